"""The probe: a handful of hooks that append events; one file per framework.

What each hook marks is the same in every framework: the next batch asked of a loader, a tensor moved to another
device, the outermost call of a module with trainable parameters, the outermost call of a module without any (a loss),
backward, the optimizer's step and the clearing of gradients. Everything else is told apart afterwards, from the log.
"""
