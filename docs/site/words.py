"""What the site itself says, beside its pages: the switch, the headings of the reference, and the theme's few words."""

from __future__ import annotations

from clearhead.languages import Said

NAME = Said(en="English", ko="한국어")
SWITCH = Said(en="Read this page in English", ko="이 페이지를 한국어로 보기")
TITLE = Said(en="clearhead", ko="clearhead")

REFERENCE = Said(en="Reference", ko="레퍼런스")
REFERENCE_IS = Said(
    en="Every public name, with its docstring. Shapes are written with the same letters everywhere: `n_q` and `n_k` "
    "are the numbers of queries and keys, `d` and `d_v` the widths of keys and values, `h` heads, `…` any leading "
    "axes.",
    ko="공개된 이름을 모두 docstring과 함께 모았습니다. docstring은 영어로 씁니다. 모양은 어디서나 같은 글자로 "
    "적습니다. `n_q`와 `n_k`는 쿼리와 키의 개수, `d`와 `d_v`는 키와 값의 폭, `h`는 헤드의 개수이고, `…`는 앞에 "
    "오는 임의의 축입니다.",
)

# The theme's own words, which Sphinx has no Korean for.
THEME = {
    "On this page": "이 페이지에서",
    "Back to top": "맨 위로",
    "Skip to content": "본문으로 건너뛰기",
    "Home": "처음으로",
    "Next": "다음",
    "Previous": "이전",
}

# What the search's script says. A list has one text for each form of the plural, of which Korean has one.
SEARCH = {
    "Searching": "찾는 중",
    "Preparing search...": "검색 준비 중…",
    "Search Results": "검색 결과",
    "Search finished, found one page matching the search query.": ["${resultCount}곳에서 찾았습니다."],
    "Your search did not match any documents. Please make sure that all words are spelled correctly and that you've "
    "selected enough categories.": "찾는 말이 있는 페이지가 없습니다. 철자를 확인하거나 다른 말로 찾아 보세요.",
    ", in ": " · ",
    "Hide Search Matches": "찾은 말 표시 지우기",
}

REFERENCE_PAGES = {  # the title of each page, and what is on it
    "attention": (
        Said(en="Attention", ko="어텐션"),
        Said(
            en="Exact attention in O(n) memory, on NumPy arrays and torch tensors.",
            ko="NumPy 배열과 torch 텐서에서 O(n) 메모리로 정확한 어텐션을 계산합니다.",
        ),
    ),
    "masks": (
        Said(en="Masks", ko="마스크"),
        Said(
            en="What a query may attend to. Masks are joined with `&`, `|` and `~`, and True means may attend.",
            ko="쿼리가 무엇을 볼 수 있는지 정합니다. 마스크는 `&`, `|`, `~`로 합치며 True는 볼 수 있다는 뜻입니다.",
        ),
    ),
    "biases": (
        Said(en="Biases", ko="편향"),
        Said(
            en="What is added to the scores, by distance, and never written out.",
            ko="거리에 따라 어텐션 점수에 더하는 값입니다. 행렬로 펼치지 않습니다.",
        ),
    ),
    "views": (
        Said(en="Looking at attention", ko="어텐션 들여다보기"),
        Said(
            en="Statistics of every head, patterns, and any weight on demand, at any length.",
            ko="길이에 상관없이 헤드마다 통계와 패턴을 구하고, 원하는 가중치를 그때그때 꺼냅니다.",
        ),
    ),
    "traces": (
        Said(en="Tracing a model", ko="모델 추적하기"),
        Said(
            en="Every head of a whole model that runs: views by layer, files, ablation and what heads do.",
            ko="모델을 실행하면서 모든 헤드를 기록합니다. 층마다 뷰를 만들고, 파일로 저장하고, 헤드를 빼고 비교합니다.",
        ),
    ),
    "figures": (
        Said(en="Figures", ko="그림"),
        Said(
            en="Pictures of weights and of views. The gallery shows each of them.",
            ko="가중치와 뷰를 그리는 함수입니다. 각각의 그림은 갤러리에 있습니다.",
        ),
    ),
    "textbook": (
        Said(en="The textbook", ko="교과서"),
        Said(
            en="The functions of the course in plain NumPy: one idea per file, never optimised, every weight returned.",
            ko="강의에 나오는 함수를 NumPy만으로 썼습니다. 파일마다 한 가지만 다루고, 최적화하지 않으며, 가중치를 모두 "
            "돌려줍니다.",
        ),
    ),
    "translate": (
        Said(en="The translator", ko="번역기"),
        Said(
            en="A small trained encoder–decoder that says which words it looked at.",
            ko="학습을 마친 작은 인코더–디코더 모델로, 어느 단어를 보고 번역했는지 알려 줍니다.",
        ),
    ),
    "practice": (
        Said(en="Practice", ko="연습 문제"),
        Said(
            en="Your function, checked from a notebook in the words of `clearhead practice`.",
            ko="노트북에서 함수를 채점합니다. `clearhead practice`와 같은 말로 틀린 까닭을 알려 줍니다.",
        ),
    ),
    "torch": (
        Said(en="PyTorch", ko="PyTorch"),
        Said(
            en="The kernels under autograd, and stand-ins for torch's own functions and modules.",
            ko="autograd로 미분할 수 있는 커널과, torch의 해당 함수와 클래스를 대체하는 것들입니다.",
        ),
    ),
}
