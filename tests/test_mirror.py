"""Every file has a test of its own name, or is listed here with the tests that it is judged by.

A kernel has no meaning of its own: what it computes is judged by the table of calls, forwards, looked at and backwards.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "clearhead"

ELSEWHERE = {
    "__main__.py": ["cli/test_commands.py"],
    "census/worker.py": ["census/test_taking.py"],
    "census/words.py": ["test_languages.py", "census/test_command.py"],
    "cli/words.py": ["test_languages.py", "cli/test_parser.py"],
    "figures/layout.py": ["figures/test_heatmap.py", "figures/test_layers.py"],
    "figures/patches.py": ["figures/test_image.py"],
    "figures/strips.py": ["figures/test_head.py"],
    "kernels/*": ["test_equivalence.py", "views/test_statistics.py", "torch/test_gradients_table.py"],
    "learn/words.py": ["test_languages.py", "learn/test_command.py"],
    "masks/packed.py": ["masks/test_kinds.py"],
    "page/content.py": ["page/test_writing.py", "page/test_shown.py"],
    "page/words.py": ["test_languages.py", "page/test_showing.py"],
    "traces/conversations.py": ["traces/test_reading.py"],
    "traces/edges.py": ["traces/test_cutting.py"],
    "traces/facts.py": ["traces/test_attribution.py", "traces/test_value_norms.py"],
    "traces/group_writing.py": ["torch/parallel/test_tracing.py"],
    "traces/layers.py": ["traces/test_opening.py"],
    "traces/pieces.py": ["traces/test_opening.py", "traces/test_storing.py"],
    "traces/progress.py": ["traces/test_effects.py", "traces/test_relevance.py"],
    "traces/projections.py": ["traces/test_value_norms.py", "traces/test_attribution.py"],
    "traces/rank_files.py": ["torch/parallel/test_tracing.py"],
    "traces/replacing.py": ["traces/test_ablation.py"],
    "traces/sharing.py": ["traces/test_reading.py"],
    "traces/slow.py": ["traces/test_opening.py"],
    "traces/slow_pieces.py": ["traces/test_opening.py", "traces/test_numpy_models.py"],
    "traces/spread.py": ["torch/parallel/test_tracing.py"],
    "traces/stream.py": ["traces/test_attribution.py", "traces/test_value_norms.py"],
    "traces/takes.py": ["traces/test_opening.py"],
    "traces/tensor_files.py": ["traces/test_storing.py"],
    "traces/words.py": ["test_languages.py", "traces/test_command.py"],
    "torch/derivative.py": ["torch/test_function.py", "torch/test_function_modes.py", "torch/test_gradcheck.py"],
    "practice/child.py": ["practice/test_process.py"],
    "practice/exercise.py": ["practice/test_exercises.py"],
    "practice/explaining.py": ["practice/test_grading.py"],
    "practice/exercises/*": ["practice/test_exercises.py"],
    "practice/reports.py": ["practice/test_command.py"],
    "practice/telling.py": ["practice/test_grading.py"],
    "practice/traces.py": ["practice/test_process.py"],
    "practice/trying.py": ["practice/test_grading.py", "practice/test_exercises.py"],
    "practice/verdict.py": ["practice/test_showing.py"],
    "practice/words/*": ["test_languages.py", "practice/test_command.py"],
    "showcase/*": ["showcase/test_command.py"],
    "torch/parallel/group_views.py": ["torch/parallel/test_looking.py"],
    "torch/parallel/joint.py": ["torch/parallel/test_function.py", "torch/parallel/test_agreeing.py"],
    "torch/places.py": ["torch/test_looking.py", "torch/test_streaming_backward.py"],
    "torch/pooling.py": ["torch/test_looking.py"],
    "text/spans.py": ["text/test_labels.py"],
    "torch/torch_masks.py": ["torch/test_multi_head.py", "outside/test_torch_modules.py"],
    "translate/batches.py": ["translate/test_training.py"],
    "translate/drawing.py": ["translate/test_sentences.py"],
    "translate/english_phrases.py": ["translate/test_grammar.py"],
    "translate/english_verbs.py": ["translate/test_grammar.py"],
    "translate/film.py": ["translate/test_command.py"],
    "translate/joining.py": ["translate/test_sentences.py"],
    "translate/korean_phrases.py": ["translate/test_grammar.py"],
    "translate/lexicon/*": ["translate/test_lexicon.py"],
    "translate/manner.py": ["translate/test_sentences.py"],
    "translate/meaning.py": ["translate/test_grammar.py"],
    "translate/parts.py": ["translate/test_grammar.py"],
    "translate/phrases.py": ["translate/test_sentences.py"],
    "translate/progress.py": ["translate/test_command.py"],
    "translate/recipes.py": ["translate/test_command.py"],
    "translate/relatives.py": ["translate/test_sentences.py", "translate/test_grammar.py"],
    "translate/report.py": ["translate/test_translator.py", "translate/test_command.py"],
    "translate/session.py": ["translate/test_command.py"],
    "translate/surroundings.py": ["translate/test_sentences.py"],
    "translate/words.py": ["test_languages.py", "translate/test_command.py"],
    "views/engines.py": ["torch/test_looking.py", "torch/test_elsewhere.py"],
    "translate/spelling.py": ["translate/test_sentences.py"],
    "translate/to_english.py": ["translate/test_grammar.py"],
    "translate/to_korean.py": ["translate/test_grammar.py"],
}


def without_a_test() -> list[str]:
    """The files without a test of their name. An __init__.py only names what is offered."""
    files = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    return sorted(str(file) for file in files if not (TESTS / file.parent / f"test_{file.name}").exists())


def test_every_file_has_a_test_or_is_listed():
    missing = [file for file in without_a_test() if not any(fnmatch(file, pattern) for pattern in ELSEWHERE)]
    assert not missing, "write their tests, or list them above with the tests that they are judged by"


def test_nothing_is_listed_that_has_tests_of_its_own():
    needless = [pattern for pattern in ELSEWHERE if not any(fnmatch(file, pattern) for file in without_a_test())]
    assert not needless, "take these off the list above"


def test_the_tests_that_are_named_exist():
    assert [name for names in ELSEWHERE.values() for name in names if not (TESTS / name).exists()] == []
