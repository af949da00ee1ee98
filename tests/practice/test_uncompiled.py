"""Training without torch's compiler gives the same numbers, and the compiler is there for whoever asks for it."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import textwrap

import torch


def printed(code):
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def losses():
    """The losses of a few steps with each of several optimisers."""
    torch.manual_seed(0)
    found = []
    for kind in (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD, torch.optim.RMSprop, torch.optim.Adagrad):
        layer = torch.nn.Linear(5, 3)
        optimiser = kind(layer.parameters(), lr=0.01)
        schedule = torch.optim.lr_scheduler.StepLR(optimiser, 2)
        for _ in range(5):
            loss = layer(torch.ones(2, 5)).square().sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            found.append(loss.item())
    return found


WITHOUT = f"""
import json
import sys
import torch
from clearhead.practice.uncompiled import Uncompiled, leave_the_compiler_out

{inspect.getsource(losses)}

leave_the_compiler_out()
print(json.dumps(losses()))
print(isinstance(sys.modules["torch._dynamo"], Uncompiled))
import torch._dynamo.config
print(torch._dynamo.config.disable, isinstance(sys.modules["torch._dynamo"], Uncompiled))
"""


def test_optimisers_take_the_same_steps_and_the_compiler_is_loaded_when_it_is_asked_for():
    found, stood_in, asked = printed(WITHOUT).splitlines()
    assert stood_in == "True"
    assert json.loads(found) == losses()  # with the compiler
    assert asked == "False False"


def test_nothing_happens_without_torch():
    code = """
    import sys
    from clearhead.practice.uncompiled import leave_the_compiler_out

    leave_the_compiler_out()
    print([name for name in sys.modules if name.startswith("torch")])
    """
    assert printed(code) == "[]\n"
