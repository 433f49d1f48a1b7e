"""Public training scripts that benchmarks/scripts.py measures: where each is, at which commit, and how it is run small.

Not a line of them is changed. Data sets that they would download are replaced by small stand-ins in the same format
(benchmarks/programs/stand_ins.py), and scripts whose length cannot be chosen are ended by the witness.
"""

from __future__ import annotations

from dataclasses import dataclass

EXAMPLES = "pytorch/examples", "77f55b912142e11fcfdf5b530231fb9c52f181e8"
NANO_GPT = "karpathy/nanoGPT", "3adf61e154c3fe3fca428ad6bc3818b27a3b8291"
MIN_GPT = "karpathy/minGPT", "37baab71b9abea1b76ab957409a1cc2fbfba8a26"
GANS = "eriklindernoren/PyTorch-GAN", "36d3c77e5ff20ebe0aeefd322326a134a279b93e"
TIMM = "huggingface/pytorch-image-models", "aa4b5850c1543fa488abf260f18390eda46cf85d"
ALPACA = "tatsu-lab/stanford_alpaca", "761dc5bfbdeeffa89b8bff5d038781a4055f796a"
LIGHTNING = "Lightning-AI/pytorch-lightning", "7f0c3436cd3f6ad3753125672024fc415cbcb414"
DIFFUSERS = "huggingface/diffusers", "58eb52c0803ea9af3abec60841c2a093bdf1f951"
PADDLE_REC = "PaddlePaddle/PaddleRec", "656326adf3c4117c11ec0eff5e8f61acd8191c2a"
PADDLE_LEARN = "vanillazi/paddle-learn", "5d46e42945ccad565d501d188ba39c6d9786fd6d"
PADDLE_LESSONS = "PaddlePaddle/awesome-DeepLearning", "772e97d3103fae65313fc2683d3dff13e5cbb723"


@dataclass(frozen=True)
class Case:
    """One script and how it is run.

    Attributes:
        name: Its name in the result.
        source: Repository on GitHub (``owner/name``) and commit.
        target: The script, relative to ``folder``; ``-m module`` for a module.
        styles: What it stands for.
        arguments: What it gets.
        folder: Working directory, relative to the repository's root.
        paths: What of the repository is taken out; all of it by default.
        stand_ins: Names of stand-in data, each with the folder (relative to the root) where it goes.
        last_step: Step after which the witness ends it; 0 to let it run to its end.
        environment: Variables it needs.
        framework: Whose interpreter runs it.
        steps: Its steps, where no optimizer can be counted.
        told_steps: Pattern of its output whose group is the number of its steps, where only it knows.
        ranks: Processes that train.
        masks: Patterns of its output that hold times, besides the usual ones.
        data_function: What ``--data-fn`` is given.
    """

    name: str
    source: tuple[str, str]
    target: str
    styles: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    folder: str = "."
    paths: tuple[str, ...] = ()
    stand_ins: tuple[tuple[str, str], ...] = ()
    last_step: int = 0
    environment: tuple[tuple[str, str], ...] = ()
    framework: str = "pytorch"
    steps: int | None = None
    told_steps: str = ""
    ranks: int = 1
    masks: tuple[str, ...] = ()
    data_function: str = ""


CASES = (
    Case(
        name="mnist",
        source=EXAMPLES,
        folder="mnist",
        target="main.py",
        paths=("mnist",),
        arguments=("--epochs", "2", "--batch-size", "16", "--test-batch-size", "64", "--log-interval", "20"),
        stand_ins=(("mnist", "data"),),
        styles=("plain loop", "validation without gradients"),
    ),
    Case(
        name="dcgan",
        source=EXAMPLES,
        folder="dcgan",
        target="main.py",
        paths=("dcgan",),
        arguments=("--dataset", "fake", "--niter", "1", "--batchSize", "32", "--imageSize", "64", "--ndf", "8",
                   "--ngf", "8", "--workers", "2"),
        styles=("two models and optimizers", "loader workers by fork"),
    ),
    Case(
        name="regression",
        source=EXAMPLES,
        folder="regression",
        target="main.py",
        paths=("regression",),
        told_steps=r"after (\d+) batches",
        styles=("updates by hand without an optimizer", "own get_batch"),
    ),
    Case(
        name="time_sequence_prediction",
        source=EXAMPLES,
        folder="time_sequence_prediction",
        target="train.py",
        paths=("time_sequence_prediction",),
        arguments=("--steps", "4"),
        stand_ins=(("sine_waves", "time_sequence_prediction"),),
        environment=(("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1"),),
        styles=("closure (LBFGS)", "no loader: the whole data set at once"),
    ),
    Case(
        name="word_language_model",
        source=EXAMPLES,
        folder="word_language_model",
        target="main.py",
        paths=("word_language_model/*.py",),
        arguments=("--data", "./text", "--epochs", "1", "--emsize", "32", "--nhid", "32", "--log-interval", "20"),
        stand_ins=(("words", "word_language_model/text"),),
        steps=115,
        styles=("own get_batch", "updates by hand without an optimizer", "validation without gradients"),
    ),
    Case(
        name="mnist_hogwild",
        source=EXAMPLES,
        folder="mnist_hogwild",
        target="main.py",
        paths=("mnist_hogwild",),
        arguments=("--epochs", "1", "--num-processes", "1", "--batch-size", "16"),
        stand_ins=(("mnist", "data"),),
        masks=(r"(?m)^\d+(?=\tTrain)",),
        styles=("a process by spawn",),
    ),
    Case(
        name="imagenet",
        source=EXAMPLES,
        folder="imagenet",
        target="main.py",
        paths=("imagenet/main.py",),
        arguments=("--dummy", "--arch", "mobilenet_v3_small", "--batch-size", "4", "--epochs", "1", "--workers", "1",
                   "--print-freq", "5", "--no-accel"),
        last_step=20,
        masks=(r"(Time|Data) +[\d.]+ \( *[\d.]+\)",),
        styles=("a large script", "loader workers by fork", "ended from inside"),
    ),
    Case(
        name="nanogpt",
        source=NANO_GPT,
        target="train.py",
        arguments=("config/train_shakespeare_char.py", "--device=cpu", "--compile=False", "--eval_iters=2",
                   "--eval_interval=20", "--block_size=64", "--batch_size=8", "--n_layer=2", "--n_head=2",
                   "--n_embd=64", "--max_iters=40", "--gradient_accumulation_steps=4", "--dtype=float32"),
        stand_ins=(("characters", "data/shakespeare_char"),),
        styles=("own get_batch", "accumulation", "GradScaler", "validation without gradients"),
    ),
    Case(
        name="nanogpt compiled",
        source=NANO_GPT,
        target="train.py",
        arguments=("config/train_shakespeare_char.py", "--device=cpu", "--compile=True", "--eval_iters=2",
                   "--eval_interval=20", "--block_size=64", "--batch_size=8", "--n_layer=2", "--n_head=2",
                   "--n_embd=64", "--max_iters=40", "--gradient_accumulation_steps=1", "--dtype=float32"),
        stand_ins=(("characters", "data/shakespeare_char"),),
        styles=("torch.compile", "own get_batch"),
    ),
    Case(
        name="mingpt adder",
        source=MIN_GPT,
        folder="projects/adder",
        target="adder.py",
        arguments=("--trainer.max_iters=60", "--trainer.num_workers=2"),
        environment=(("PYTHONPATH", "{root}"),),
        styles=("its own trainer class", "loader workers by fork", "next(iterator) by hand"),
    ),
    Case(
        name="wgan_gp",
        source=GANS,
        folder="implementations/wgan_gp",
        target="wgan_gp.py",
        paths=("implementations/wgan_gp",),
        arguments=("--n_epochs", "1", "--batch_size", "16"),
        stand_ins=(("mnist", "data/mnist"),),
        styles=("two models and optimizers at different rates", "gradients of gradients"),
    ),
    Case(
        name="timm",
        source=TIMM,
        target="train.py",
        arguments=("--data-dir", "images", "--model", "resnet10t", "--num-classes", "2", "--epochs", "1",
                   "--batch-size", "8", "--img-size", "32", "--device", "cpu", "--workers", "2", "--amp",
                   "--amp-dtype", "bfloat16", "--log-interval", "4", "--mixup", "0.2"),
        stand_ins=(("images", "images"),),
        masks=(r"(Time|Data): [\d.]+ \([\d.]+\)",),
        styles=("timm", "autocast", "loader workers by fork", "a prefetching loader of its own"),
    ),
    Case(
        name="timm two ranks",
        source=TIMM,
        target="-m torch.distributed.run",
        arguments=("--nproc-per-node", "2", "--master-port", "{port}", "train.py", "--data-dir", "images", "--model",
                   "resnet10t", "--num-classes", "2", "--epochs", "1", "--batch-size", "8", "--img-size", "32",
                   "--device", "cpu", "--workers", "1", "--log-interval", "4"),
        stand_ins=(("images", "images"),),
        ranks=2,
        masks=(r"(Time|Data): [\d.]+ \([\d.]+\)",),
        styles=("DistributedDataParallel", "torchrun"),
    ),
    Case(
        name="alpaca",
        source=ALPACA,
        target="train.py",
        paths=("train.py", "utils.py"),
        arguments=("--model_name_or_path", "./tiny", "--data_path", "./instructions.json", "--output_dir", "./out",
                   "--num_train_epochs", "1", "--per_device_train_batch_size", "2", "--gradient_accumulation_steps",
                   "2", "--save_strategy", "no", "--logging_steps", "5", "--report_to", "none", "--use_cpu"),
        stand_ins=(("tiny_llama", "tiny"), ("instructions", ".")),
        styles=("Hugging Face Trainer", "accumulation"),
    ),
    Case(
        name="lightning autoencoder",
        source=LIGHTNING,
        folder="examples/pytorch/basics",
        target="autoencoder.py",
        paths=("examples/pytorch/basics",),
        arguments=("--trainer.max_epochs=1", "--trainer.limit_train_batches=60", "--trainer.limit_val_batches=5",
                   "--trainer.limit_test_batches=5", "--trainer.limit_predict_batches=1",
                   "--trainer.accelerator=cpu"),
        stand_ins=(("mnist_whole", "examples/pytorch/basics/data"), ("mnist_whole", "examples/Datasets")),
        styles=("Lightning", "validation without gradients"),
    ),
    Case(
        name="diffusers unconditional",
        source=DIFFUSERS,
        folder="examples/unconditional_image_generation",
        target="train_unconditional.py",
        paths=("examples/unconditional_image_generation", "src"),
        arguments=("--train_data_dir", "./images", "--model_config_name_or_path", "./unet", "--resolution", "16",
                   "--train_batch_size", "4", "--num_epochs", "1", "--gradient_accumulation_steps", "2",
                   "--save_images_epochs", "9", "--save_model_epochs", "9", "--output_dir", "./out", "--use_ema",
                   "--ddpm_num_inference_steps", "2"),
        stand_ins=(("images", "examples/unconditional_image_generation/images"),
                   ("tiny_unet", "examples/unconditional_image_generation/unet")),
        environment=(("PYTHONPATH", "{root}/src"), ("CUDA_VISIBLE_DEVICES", "")),
        styles=("accelerate", "accumulation"),
    ),
    Case(
        name="paddlerec deepfm",
        source=PADDLE_REC,
        target="tools/trainer.py",
        paths=("tools/*.py", "tools/utils/*.py", "models/rank/deepfm"),
        arguments=("-m", "models/rank/deepfm/config.yaml", "-o", "runner.epochs=2",
                   "hyper_parameters.sparse_feature_number=10001"),
        framework="paddle",
        styles=("Paddle dygraph", "an iterable dataset"),
    ),
    Case(
        name="paddlerec mmoe",
        source=PADDLE_REC,
        target="tools/trainer.py",
        paths=("tools/*.py", "tools/utils/*.py", "models/multitask/mmoe"),
        arguments=("-m", "models/multitask/mmoe/config.yaml", "-o", "runner.epochs=1"),
        framework="paddle",
        styles=("Paddle dygraph", "several losses"),
    ),
    Case(
        name="word2vec lesson",
        source=PADDLE_LESSONS,
        folder="junior_class/chapter-5-NLP/code",
        target="train.py",
        paths=("junior_class/chapter-5-NLP/code",),
        stand_ins=(("corpus", "junior_class/chapter-5-NLP/code/data"),),
        data_function="build_batch",
        framework="paddle",
        styles=("Paddle dygraph", "one generator through the whole training"),
    ),
    Case(
        name="paddle-learn",
        source=PADDLE_LEARN,
        target="train.py",
        stand_ins=(("paddle_mnist", "home/.cache/paddle/dataset/mnist"),),
        environment=(("HOME", "{root}/home"),),
        framework="paddle",
        styles=("Model.fit",),
    ),
)
