from __future__ import annotations

from pacenote.child.trace import flop


def test_a_product_is_two_flop_a_multiply_add() -> None:
    assert flop.product("mm", [[3, 5], [5, 7]]) == (2 * 3 * 5 * 7, [1, 3, 7, 5])
    assert flop.product("addmm", [[7], [3, 5], [5, 7]])[0] == 2 * 3 * 5 * 7
    assert flop.product("bmm", [[2, 3, 5], [2, 5, 7]]) == (2 * 2 * 3 * 5 * 7, [2, 3, 7, 5])


def test_depthwise_convolution_is_not_counted_as_full_convolution() -> None:
    full = flop.convolution([1, 32, 8, 8], [32, 32, 3, 3], [1, 32, 8, 8])
    depthwise = flop.convolution([1, 32, 8, 8], [32, 1, 3, 3], [1, 32, 8, 8])
    assert full == 2 * 64 * 32 * 32 * 9
    assert full == 32 * depthwise


def test_gradients_that_nobody_asks_for_cost_nothing() -> None:
    shapes = [[1, 8, 4, 4], [1, 3, 4, 4], [8, 3, 3, 3]]
    arguments = [None, None, None, [0], [1, 1], [1, 1], [1, 1], False, [0, 0], 1]
    both = flop.of("convolution_backward", shapes, [], [*arguments, [True, True, False]])[0]
    one, facts = flop.of("convolution_backward", shapes, [], [*arguments, [False, True, False]])
    assert both == 2 * one > 0
    assert facts["gradients"] == [False, True, False]


def test_the_backward_pass_of_fused_attention_computes_the_scores_again() -> None:
    query, key = [2, 4, 16, 8], [2, 4, 32, 8]
    forward = flop.attention(query, key, backward=False)
    assert forward == 4 * 2 * 4 * 16 * 8 * 32
    assert flop.attention(query, key, backward=True) == 2.5 * forward
