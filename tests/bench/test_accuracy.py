"""Errors are taken against float64, input by input."""

from __future__ import annotations

import math

import numpy as np
import torch
from benchmarks import accuracy
from benchmarks.problems import causal_problem
from benchmarks.rows import LARGEST, RMS

import clearhead as ch
from clearhead import masks


def test_errors_are_compared_input_by_input():
    problem = causal_problem(7, h=2)
    values, figures = accuracy.compare([problem, problem], 2)
    truth = problem.truth()
    ours = accuracy.error(ch.attention(problem.q, problem.k, problem.v, mask=masks.causal()), truth)
    theirs = accuracy.error(problem.truth(np.float32), truth)
    for kind in (LARGEST, RMS):
        assert values[kind].number == ours[kind] / theirs[kind] == figures[f"{kind}, worst ratio"]
        assert figures[f"{kind}, clearhead"] == ours[kind]
    assert accuracy.error(np.array([3.0, 1.0]), np.array([0.0, 5.0])) == {LARGEST: 4.0, RMS: math.sqrt(12.5)}


def test_torch_is_the_judge_in_bfloat16():
    problem = causal_problem(7, h=2, dtype="bfloat16")
    _, figures = accuracy.compare([problem], 1, judge=accuracy.by_torch)
    q, k, v = (torch.from_numpy(x.astype(np.float32)).bfloat16() for x in (problem.q, problem.k, problem.v))
    output = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).float().numpy()
    assert figures[f"{LARGEST}, judge"] == np.abs(output - problem.truth()).max()
