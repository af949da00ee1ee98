"""Where in the notes a mistake is explained, by what is explained there.

An exercise belongs to one section, and most of its mistakes are explained in it. These are for the others: a learner of
self-attention whose scores overflow is sent to where overflow is shown, and not to self-attention's formula.
"""

from __future__ import annotations

from clearhead.languages import Said
from clearhead.practice.exercise import Section

_IDEA, _BY_HAND = Said("The idea", "아이디어"), Said("By hand", "손으로 계산하기")
_FORMULA, _IN_CODE = Said("The formula", "수식"), Said("In code", "코드로")
_TRY_IT, _MISTAKES = Said("Try it", "해 보기"), Said("Mistakes people make", "자주 하는 실수")

POWERS = Section("01", _BY_HAND)
LARGE_SCORES = Section("01", _TRY_IT)
WHICH_AXIS = Section("01", _MISTAKES)
FIVE_STEPS = Section("02", _FORMULA)
BATCHES = Section("02", _IN_CODE)
WHY_SCALE = Section("02", Said("Measured: why divide by √d", "재어 보기: 왜 √d로 나눌까"))
QUERY_IS_NO_KEY = Section("02", _TRY_IT)
TWO_HEADS = Section("03", _BY_HAND)
WIDTH_OF_A_HEAD = Section("03", _FORMULA)
SPLIT_AND_MERGE = Section("03", _MISTAKES)
BLIND_TO_ORDER = Section("04", _IDEA)
SINES_AND_ANGLES = Section("04", _FORMULA)
LAYOUTS = Section("04", _MISTAKES)
MINUS_INFINITY = Section("05", _FORMULA)
MORE_KEYS = Section("05", _IN_CODE)
NO_KEY_LEFT = Section("05", _IN_CODE)
LEAKS = Section("05", Said("Measured: what leaks", "재어 보기: 무엇이 새는가"))
MASK_MISTAKES = Section("05", _MISTAKES)
RESIDUAL_AND_NORM = Section("06", _FORMULA)
BLOCKS_AND_DECODING = Section("06", _IN_CODE)
TRANSFORMER_MISTAKES = Section("06", _MISTAKES)
WHY_NO_MATRIX = Section("07", _IDEA)
BLOCK_MISTAKES = Section("07", _MISTAKES)
NATS = Section("08", _FORMULA)
