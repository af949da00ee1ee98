"""Training, step by step, with everything it depends on in one place, so that it can be stopped and continued.

A `Trainer` is the model, the optimiser, the generator that dropout draws from, and where in the data it is. Written to
a file and read again it goes on as if nothing had happened: the bits are the same.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from torch.nn import functional

from clearhead import checks
from clearhead.tensors import to_numpy, to_torch
from clearhead.translate import checkpoint
from clearhead.translate.batches import Batch, Corpus, batch, batches
from clearhead.translate.model import Shape, write
from clearhead.translate.translator import MARGIN
from clearhead.translate.vocabulary import BEGIN, PAD, Vocabulary


@dataclass(frozen=True)
class Settings:
    """How a training goes.

    The learning rate rises for `warm_up` steps and then falls in a straight line to 0 at `steps`. Training stops
    earlier once `patience` looks at the held-out pairs in a row brought nothing better. The weights that are kept are
    the best, and of equals the last, since the lower the rate has become, the better they do on what is really new.
    """

    steps: int = 1500
    batch_size: int = 128
    learning_rate: float = 4e-3
    warm_up: int = 100
    smoothing: float = 0.1
    look_every: int = 100  # steps from one look at the held-out pairs to the next
    patience: int = 12
    held_out: int = 256  # pairs taken from the training set for these looks; the test set is not touched
    seed: int = 0
    # Of torch. Sums over another number of threads are rounded otherwise, so it is settled here and not by the machine.
    # For models this small one is best: two were 1.5 times as fast on idle cores and six times as slow on busy ones.
    threads: int = 1

    def rate(self, step: int) -> float:
        """The learning rate of a step, the first being 1."""
        warm_up = min(self.warm_up, self.steps - 1)
        falling = (self.steps - step + 1) / (self.steps - warm_up + 1)
        return self.learning_rate * min(step / max(warm_up, 1), falling)


class Moment(NamedTuple):
    """A look at the held-out pairs: the mean loss since the last, and how well the model does when left to itself.

    `exact` is the share translated to the letter, `overlap` the share of pieces that translation and target have in
    common, which tells models apart that get hardly a sentence right.
    """

    step: int
    loss: float
    exact: float
    overlap: float

    @property
    def rank(self) -> tuple[float, float]:
        """What the better of two has more of, in whole percent: less than that is chance among some hundred pairs."""
        return round(self.exact, 2), round(self.overlap, 2)


@dataclass
class Trainer:
    """A training at some step. Equal tasks, shapes and settings give equal bits."""

    task: str
    corpus: Corpus
    vocabulary: Vocabulary
    shape: Shape = field(default_factory=Shape)
    settings: Settings = field(default_factory=Settings)
    watched: tuple[list[int], list[int]] | None = None  # source and target of the pair that is filmed

    def __post_init__(self) -> None:
        held_out = checks.count("held_out", self.settings.held_out)
        if len(self.corpus) <= held_out:
            raise ValueError(
                f"there are {len(self.corpus)} pairs to train on and {held_out} of them are to be held out; "
                "training needs more pairs than that"
            )
        rng = np.random.default_rng([self.settings.seed, 0])
        order = rng.permutation(len(self.corpus)).tolist()
        self.training, self.held_out = self.corpus.select(order[held_out:]), self.corpus.select(order[:held_out])
        self.model = self.shape.build(len(self.vocabulary), self.settings.seed)
        self.optimiser = torch.optim.Adam(self.model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True)
        self.step, self.seconds, self.processor = 0, 0.0, 0.0  # so far, by the clock and of all processors
        self.losses: list[float] = []  # since the last look
        self.moments: list[Moment] = []
        self.film: dict[int, np.ndarray] = {}  # step → cross-attention (blocks, h, n_t, n_s) over the watched pair
        self.best = self.parameters()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.settings.seed)
            self.random = torch.get_rng_state()
        self._epoch, self._order = -1, [[0]]

    @property
    def max_len(self) -> int:
        """The most pieces it writes."""
        return self.corpus.longest[1] + MARGIN

    @property
    def finished(self) -> bool:
        """Whether all steps are done, or patience is at its end."""
        ranks = [moment.rank for moment in self.moments]
        since = len(ranks) - 1 - ranks.index(max(ranks)) if ranks else 0
        return self.step >= self.settings.steps or since >= self.settings.patience

    def parameters(self) -> dict[str, np.ndarray]:
        """Copies of the model's weights as they are now."""
        return {name: to_numpy(p).copy() for name, p in self.model.named_parameters()}

    def advance(self) -> float:
        """One step; returns the loss before it."""
        started = time.perf_counter(), time.process_time()
        self._filmed()
        self.step += 1
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.rate(self.step)
        # Dropout draws from torch's one generator. It is ours for this step and then as it was.
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(self.random)
            loss = self._loss(batch(self.training, self._rows(self.step)))
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.random = torch.get_rng_state()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        if not math.isfinite(value := loss.item()):
            raise ValueError(f"the loss of step {self.step} is {value}; a lower learning rate may help")
        self.losses.append(value)
        self._count(*started)
        return value

    def due(self) -> bool:
        """Whether it is time for a look at the held-out pairs."""
        return self.step % self.settings.look_every == 0 or self.step >= self.settings.steps

    def look(self) -> Moment:
        """Translate the held-out pairs, and keep the weights if they do at least as well as any before."""
        started = time.perf_counter(), time.process_time()
        written = write(self.model, self.held_out.sources, max_len=self.max_len)
        shares = exact_match(written, self.held_out, self.vocabulary), overlap(written, self.held_out)
        moment = Moment(self.step, float(np.mean(self.losses)), *shares)
        if all(moment.rank >= earlier.rank for earlier in self.moments):
            self.best = self.parameters()
        self.moments.append(moment)
        self.losses = []
        self._filmed(last=self.finished)
        self._count(*started)
        return moment

    def save(self, path: Path, description: dict[str, Any] | None = None) -> None:
        """Everything the training depends on but its data, of which only a fingerprint is kept."""
        state = [self.optimiser.state[p] for p in self.model.parameters()]
        names = [name for name, _ in self.model.named_parameters()]
        arrays = {f"model.{name}": array for name, array in self.parameters().items()}
        arrays |= {f"best.{name}": array for name, array in self.best.items()}
        if self.step:
            for part in ("exp_avg", "exp_avg_sq"):
                arrays |= {f"{part}.{name}": to_numpy(s[part]) for name, s in zip(names, state, strict=True)}
        arrays |= {f"film.{step}": weights for step, weights in self.film.items()}
        arrays["random"] = to_numpy(self.random)
        checkpoint.write(path, {**(description or {}), **self._identity(), **self._progress()}, arrays)

    def resume(self, path: Path) -> None:
        """Go on where the training that was saved at `path` stopped; it must be the same in everything.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: it holds something else, or a training of another task, shape or settings.
        """
        description, arrays = checkpoint.read(path, checkpoint.CHECKPOINT)
        for name, own in self._identity().items():
            if description.get(name) != own:
                raise ValueError(
                    f"{path} holds a training with another {name}, so it cannot be continued as this one: "
                    f"{_difference(description.get(name), own)}"
                )

        def named(part: str) -> dict[str, np.ndarray]:
            return {name.removeprefix(part): array for name, array in arrays.items() if name.startswith(part)}

        self.model.load_state_dict({name: to_torch(array) for name, array in named("model.").items()})
        self.best = named("best.")
        self.film = {int(step): weights for step, weights in named("film.").items()}
        self.random = to_torch(arrays["random"])
        self.step, self.seconds = description["step"], description["seconds"]
        self.processor = description["processor"]
        self.losses = description["losses"]
        self.moments = [Moment(*moment) for moment in description["moments"]]
        averages, squares = named("exp_avg."), named("exp_avg_sq.")
        for name, parameter in self.model.named_parameters() if self.step else []:
            self.optimiser.state[parameter] = {
                "step": torch.tensor(float(self.step)),
                "exp_avg": to_torch(averages[name]),
                "exp_avg_sq": to_torch(squares[name]),
            }

    def _count(self, clock: float, processor: float) -> None:
        self.seconds += time.perf_counter() - clock
        self.processor += time.process_time() - processor

    def _identity(self) -> dict[str, Any]:
        """What a training must have in common with one that it continues."""
        return {
            "kind": checkpoint.CHECKPOINT,
            "version": checkpoint.VERSION,
            "task": self.task,
            "vocabulary": self.vocabulary.to_json(),
            "data": self.corpus.fingerprint(),
            "shape": asdict(self.shape),
            "settings": asdict(self.settings),
        }

    def _progress(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "seconds": self.seconds,
            "processor": self.processor,
            "losses": self.losses,
            "moments": [list(moment) for moment in self.moments],
        }

    def _rows(self, step: int) -> list[int]:
        """Which pairs a step is about: epoch after epoch, each in an order of its own."""
        per_epoch = len(self._batches(0)) if self._epoch < 0 else len(self._order)
        epoch, position = divmod(step - 1, per_epoch)
        return self._batches(epoch)[position]

    def _batches(self, epoch: int) -> list[list[int]]:
        if epoch != self._epoch:
            rng = np.random.default_rng([self.settings.seed, 1, epoch])
            self._epoch, self._order = epoch, batches(self.training, self.settings.batch_size, rng)
        return self._order

    def _loss(self, chosen: Batch) -> torch.Tensor:
        """The mean over all real positions of −log p(wanted), softened."""
        source, given, wanted = (torch.from_numpy(ids) for ids in chosen)
        logits = self.model(source, given)  # (b, n_t, vocabulary)
        return functional.cross_entropy(
            logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD, label_smoothing=self.settings.smoothing
        )

    def _filmed(self, *, last: bool = False) -> None:
        """Keep what the watched pair looks like at steps 0, 10, 20, 40, 80 … and at the end."""
        tens, rest = divmod(self.step, 10)
        if self.watched is not None and (last or (rest == 0 and tens & (tens - 1) == 0)):
            source, target = self.watched
            output = self.model.to_textbook()(np.array(source), np.array([BEGIN, *target]))
            self.film[self.step] = np.stack(output.cross_weights)


@runtime_checkable
class Watcher(Protocol):
    """Whoever wants to know how a training goes."""

    def stepped(self, trainer: Trainer, loss: float) -> None: ...

    def looked(self, trainer: Trainer, moment: Moment) -> None: ...


def train(trainer: Trainer, *, path: Path | None = None, watcher: Watcher | None = None, **description: Any) -> bool:
    """Go on to the end, and say whether it was reached: Ctrl-C stops after the step under way.

    With a `path` the training is saved there at every look, and when it is stopped. A second Ctrl-C does not wait.
    """
    with interruptions() as interrupted, torch_threads(trainer.settings.threads):
        while not trainer.finished and not interrupted():
            loss = trainer.advance()
            if watcher is not None:
                watcher.stepped(trainer, loss)
            if trainer.due():
                moment = trainer.look()
                if watcher is not None:
                    watcher.looked(trainer, moment)
                if path is not None:
                    trainer.save(path, description)
    if not trainer.finished and path is not None:
        trainer.save(path, description)
    return trainer.finished


def exact_match(written: Sequence[Sequence[int]], corpus: Corpus, vocabulary: Vocabulary) -> float:
    """The share of targets that were written to the letter.

    Texts are compared and not ids: 34 is as right in two pieces as in one.
    """
    pairs = zip(written, corpus.targets, strict=True)
    return sum(vocabulary.decode(a) == vocabulary.decode(b) for a, b in pairs) / len(corpus)


def overlap(written: Sequence[Sequence[int]], corpus: Corpus) -> float:
    """The mean share of pieces that what was written and what was wanted have in common, in any order."""
    shares = [
        2 * (Counter(a) & Counter(b)).total() / max(len(a) + len(b), 1)
        for a, b in zip(written, corpus.targets, strict=True)
    ]
    return float(np.mean(shares))


@contextmanager
def interruptions() -> Iterator[Any]:
    """Gives a function that says whether Ctrl-C was pressed, so that no step is torn apart by it."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield pressed.is_set
        return

    def press(number: int, frame: object) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """As many threads for torch as said, and afterwards as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _difference(theirs: Any, ours: Any) -> str:
    """What differs between two settings, or two groups of them."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
        return ", ".join(f"{name} is {theirs.get(name)} there and {ours.get(name)} here" for name in names)
    return f"it is {theirs} there and {ours} here"
