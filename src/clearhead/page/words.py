"""What is said while a page is served, in Korean and in English. What the page itself says is in web/strings.js."""

from __future__ import annotations

from clearhead.languages import Said

READING = Said("reading layer {number} of {count}", "층을 읽는 중: {number}/{count}")
ADDRESS = Said("the page is at {url}", "페이지 주소: {url}")
ENDS = Said("Ctrl-C ends it", "Ctrl-C를 누르면 끝납니다")
NO_EXTRA = Said(
    "serving a page needs starlette and uvicorn, and a notebook anywidget: {install}",
    "페이지를 띄우려면 starlette과 uvicorn이, 노트북에서 보려면 anywidget이 필요합니다: {install}",
)
TAKEN = Said(
    "port {port} cannot be listened to: {why}; leave it out, and a free one is found",
    "{port}번 포트를 열 수 없습니다: {why}. 포트를 지정하지 않으면 빈 포트를 찾아 씁니다",
)
