"""The site as a reader meets it: links, searches, both languages, light and dark, on a wide screen and on a phone."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from docs.site import live
from docs.site.sources import places
from playwright.sync_api import Page, expect
from tests.site.conftest import Open

from clearhead.languages import LANGUAGES

NOTE = "notes/02_self_attention.html"
SAMPLE = ("index.html", NOTE, "gallery.html", "benchmarks.html", "architecture.html", "reference/attention.html")
PHONE = 400
NOT_PROSE = ("pre", "code", "script", "style", "math", "dt")  # dt: a signature, in which stars are stars


class Links(HTMLParser):
    """What a page points to, the places in it that can be pointed to, and its prose."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.prose = ""
        self.inside: list[str] = []  # which of NOT_PROSE are open
        self.targets: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.prose += data

    def handle_endtag(self, tag: str) -> None:
        if tag in NOT_PROSE:
            self.inside.pop()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in NOT_PROSE:
            self.inside.append(tag)
        found = {name: value or "" for name, value in attrs}
        self.ids.add(found.get("id", ""))
        if tag == "a":
            self.targets.append(found.get("href", ""))
        elif tag == "link" and found.get("rel") == "stylesheet":
            self.loaded.append(found.get("href", ""))
        elif "src" in found:
            self.loaded.append(found["src"])


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    """The pages of the site itself; the live examples it links to have tests of their own."""
    own = (path for path in site.rglob("*.html") if path.parent.name != live.FOLDER)
    return {path: Links(path.read_text(encoding="utf-8")) for path in own}


def results(page: Page, query: str) -> list[str]:
    """Type into the search field, and read where what is found leads."""
    page.locator(".sidebar-search").fill(query)
    page.locator(".sidebar-search").press("Enter")
    expect(page.locator("#search-results h2")).to_have_text(re.compile("Search Results|검색 결과"))
    expect(page.locator(".search-summary")).not_to_be_empty()
    return [link.get_attribute("href") or "" for link in page.locator("#search-results li a").all()]


def background(page: Page) -> int:
    """How bright the page is, 0 … 255."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return max(map(int, re.findall(r"\d+", colour)[:3]))


class TestLinks:
    def test_every_link_leads_to_a_page_and_a_place_in_it(self, site, pages):
        for path, links in pages.items():
            for target in links.targets:
                parts = urlsplit(target)
                if parts.scheme in ("http", "https"):
                    continue
                there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
                assert there.is_file(), f"{path.relative_to(site)} leads to {target}, which is not there"
                if parts.fragment and there in pages:
                    assert unquote(parts.fragment) in pages[there].ids, f"{path.relative_to(site)}: {target}"

    def test_everything_a_page_loads_comes_with_it(self, site, pages):
        for path, links in pages.items():
            for target in links.loaded:
                parts = urlsplit(target)
                assert not parts.scheme, f"{path.relative_to(site)} loads {target}"
                assert (path.parent / unquote(parts.path)).is_file(), f"{path.relative_to(site)} loads {target}"

    def test_every_page_of_the_repository_is_there_in_both_languages(self, site):
        for language in LANGUAGES:
            for place in places(language).values():
                assert (site / language / place).with_suffix(".html").is_file()

    def test_both_languages_have_the_same_pages(self, site, pages):
        english, korean = (
            {path.relative_to(site / language) for path in pages if path.is_relative_to(site / language)}
            for language in LANGUAGES
        )
        assert english == korean


class TestPages:
    def test_no_mark_of_markdown_is_left_in_the_prose(self, site, pages):
        for path, page in pages.items():
            assert re.findall(r"\*\*(?=\S)|(?<=\S)\*\*|\]\(|[`$]|\{\w+\}", page.prose) == [], path.relative_to(site)

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_open_without_an_error_or_a_request(self, site, open_page: Open, language):
        page = open_page(f"{language}/search.html")
        for path in SAMPLE:
            page.goto((site / language / path).as_uri())
            assert page.evaluate("document.documentElement.lang") == language
            expect(page.locator("h1").first).to_be_visible()
            assert page.evaluate("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_fit_a_phone(self, site, open_page: Open, language):
        page = open_page(f"{language}/search.html", width=PHONE)
        for path in (*SAMPLE, "reference/views.html", "notes/glossary.html"):
            page.goto((site / language / path).as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE, path

    def test_are_dark_where_the_reader_s_screen_is(self, open_page: Open):
        assert background(open_page("en/index.html", scheme="dark")) < 60
        assert background(open_page("en/index.html", scheme="light")) > 200

    def test_change_over_by_a_button(self, open_page: Open):
        page = open_page("ko/index.html")
        page.locator(".theme-toggle-content button").click()
        assert background(page) < 60
        page.locator(".theme-toggle-content button").click()
        assert background(page) > 200

    def test_formulas_are_drawn_by_the_browser(self, open_page: Open):
        page = open_page(f"ko/{NOTE}")
        formula = page.locator(".formula math").first
        assert (formula.bounding_box() or {})["height"] > 20
        assert "$" not in page.locator("article").inner_text()

    def test_answers_are_folded_until_they_are_asked_for(self, open_page: Open):
        page = open_page(f"en/{NOTE}")
        answer = page.locator("details").first
        expect(answer.locator("p").first).to_be_hidden()
        answer.locator("summary").click()
        expect(answer.locator("p").first).to_be_visible()


class TestLanguages:
    @pytest.mark.parametrize("path", [NOTE, "index.html", "reference/masks.html", "search.html"])
    def test_the_switch_leads_to_the_same_page_and_back(self, open_page: Open, path):
        page = open_page(f"en/{path}")
        page.locator(".language-switch").click()
        assert page.url.endswith(f"/ko/{path}")
        assert page.evaluate("document.documentElement.lang") == "ko"
        page.locator(".language-switch").click()
        assert page.url.endswith(f"/en/{path}")

    def test_every_page_has_a_switch_to_the_same_page(self, site, pages):
        for language, other in zip(LANGUAGES, LANGUAGES[::-1], strict=True):
            for path in (page for page in pages if page.is_relative_to(site / language)):
                same = site / other / path.relative_to(site / language)
                assert same in {(path.parent / target).resolve() for target in pages[path].targets}

    @pytest.mark.parametrize(("locale", "language"), [("ko-KR", "ko"), ("en-GB", "en"), ("de-DE", "en")])
    def test_the_first_page_goes_to_the_reader_s_language(self, open_page: Open, locale, language):
        page = open_page("index.html", locale=locale)
        page.wait_for_url(f"**/{language}/index.html")

    def test_the_theme_speaks_korean_on_korean_pages(self, open_page: Open):
        page = open_page(f"ko/{NOTE}")
        expect(page.locator(".toc-title")).to_have_text("이 페이지에서")


class TestSearch:
    def test_korean_is_found_with_any_particle(self, open_page: Open):
        page = open_page("ko/search.html")
        for query in ("쿼리", "쿼리를", "어텐션의", "가중치는", "키", "마스크"):
            found = results(page, query)
            assert sum(link.startswith("notes/0") for link in found) >= 5, query
        assert "notes/05_masks.html" in results(page, "코잘 마스크를")
        assert results(page, "두루미") == []

    def test_english_is_found_in_any_form(self, open_page: Open):
        page = open_page("en/search.html")
        for query in ("query", "queries", "masks"):
            found = results(page, query)
            assert sum(link.startswith("notes/0") for link in found) >= 5, query
        assert results(page, "flamingo") == []

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_a_name_leads_to_its_place_in_the_reference(self, open_page: Open, language):
        found = results(open_page(f"{language}/index.html"), "memory_efficient_attention")
        assert "reference/textbook.html#clearhead.memory_efficient_attention" in found
