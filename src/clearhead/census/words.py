"""What `clearhead census` says, in Korean and in English. What its page says is in page/web/census_strings.js."""

from __future__ import annotations

from collections.abc import Sequence

from clearhead.languages import Said

DESCRIPTION = Said(
    """\
Run a model over every document of a corpus, and gather what each of its heads does.

Text, JSON lines and Parquet are read. Ray spreads the work over processes, or over the
machines of a cluster. The result is a folder of tables that clearhead.census.load opens,
and a page, index.html, to look at in a browser.""",
    """\
말뭉치의 모든 문서를 모델로 읽고, 헤드마다 무엇을 하는지 모읍니다.

텍스트, JSONL, Parquet 파일을 읽습니다. 일은 Ray가 여러 프로세스나 클러스터의 여러
컴퓨터에 나눕니다. 결과는 `clearhead.census.load`로 여는 표와 브라우저에서 보는 페이지
index.html이 든 폴더입니다.""",
)
EXAMPLES = Said(
    """\
examples:
  {program} --model ./my-model --corpus texts/ -o OUT
  {program} --model ./my-model --corpus a.jsonl b.parquet --field BODY -o OUT --resume
  {program} --model ./my-model --corpus texts/ -o OUT --address ray://10.0.0.1:10001
""",
    """\
예:
  {program} --model ./my-model --corpus texts/ -o OUT
  {program} --model ./my-model --corpus a.jsonl b.parquet --field BODY -o OUT --resume
  {program} --model ./my-model --corpus texts/ -o OUT --address ray://10.0.0.1:10001
""",
)
OPTIONS = {
    "model": Said("a folder with a model and its tokenizer", "모델과 토크나이저가 든 폴더"),
    "corpus": Said(
        "files and folders: .jsonl, .parquet, or one text to a file",
        "파일이나 폴더: .jsonl, .parquet, 또는 글이 하나씩 든 텍스트 파일",
    ),
    "out": Said("the folder to write to", "결과를 담을 폴더"),
    "field": Said(
        "where the text is, in JSON lines and Parquet (default: text)",
        "JSONL와 Parquet에서 글이 든 필드 (기본값: `text`)",
    ),
    "max_tokens": Said(
        "cut documents off after N tokens (default: those that the model cannot read are left out and listed)",
        "문서를 토큰 N개에서 자릅니다 (기본값: 모델이 읽을 수 없을 만큼 긴 문서는 빼고 목록에 적습니다)",
    ),
    "layers": Said(
        "only these layers, by number or module path (default: all)", "셀 층의 번호나 모듈 경로 (기본값: 모두)"
    ),
    "shard": Said(
        "documents to a shard, which is what is lost when a worker dies (default: 32)",
        "샤드 하나에 넣을 문서 수. 작업자가 죽으면 샤드 하나만큼 다시 합니다 (기본값: 32)",
    ),
    "workers": Said(
        "how many processes hold a model (default: one for each processor)",
        "모델을 띄울 프로세스 수 (기본값: 프로세서마다 하나)",
    ),
    "threads": Said("threads of each worker (default: 1)", "작업자 하나가 쓸 스레드 수 (기본값: 1)"),
    "address": Said(
        "of a Ray cluster (default: Ray is started on this machine)",
        "Ray 클러스터의 주소 (기본값: 이 컴퓨터에서 Ray를 시작합니다)",
    ),
    "resume": Said("go on with what is in the folder", "폴더에 있는 결과에 이어서 합니다"),
    "compare": Said(
        "another census, whose heads the page shows beside these", "페이지에서 나란히 비교할 다른 조사 결과의 폴더"
    ),
}
COUNTED = {
    "documents": (Said("1 document", "문서 1개"), Said("{count:,} documents", "문서 {count:,}개")),
    "tokens": (Said("1 token", "토큰 1개"), Said("{count:,} tokens", "토큰 {count:,}개")),
    "layers": (Said("1 layer", "층 1개"), Said("{count:,} layers", "층 {count:,}개")),
    "heads": (Said("1 head", "헤드 1개"), Said("{count:,} heads", "헤드 {count:,}개")),
    "shards": (Said("1 shard", "샤드 1개"), Said("{count:,} shards", "샤드 {count:,}개")),
    "bytes": (Said("1 byte", "1바이트"), Said("{count} bytes", "{count}바이트")),
    "machines": (Said("1 machine", "컴퓨터 1대"), Said("{count:,} machines", "컴퓨터 {count:,}대")),
    "workers": (Said("1 worker", "작업자 1개"), Said("{count:,} workers", "작업자 {count:,}개")),
    "threads": (Said("1 thread", "스레드 1개"), Said("{count:,} threads", "스레드 {count:,}개")),
}


def counted(what: str, count: int) -> Said:
    """How many there are of something: English has a form for one, and one for any other number."""
    one, many = COUNTED[what]
    return one if count == 1 else many.filled(count=count)


def joined(parts: Sequence[Said]) -> Said:
    """Several texts as one."""
    return Said("; ".join(part.en for part in parts), "; ".join(part.ko for part in parts))


LOOKING = Said("reading the corpus", "말뭉치를 훑는 중")
STARTING = Said(
    "{done:,} of {documents} done; starting Ray, and loading the model",
    "{documents} 중 {done:,}개 끝남. Ray를 시작하고 모델을 불러오는 중",
)
PROGRESS = Said(
    "{done:,} of {documents} · {rate:,.0f} tokens/s · {left} left",
    "{documents} 중 {done:,}개 · 초당 토큰 {rate:,.0f}개 · 남은 시간 {left}",
)
LEFT_OUT = Said(
    "left out, as files of no kind that is read, of those in folders: {count:,}, such as {example}",
    "폴더 안의 파일 {count:,}개는 읽을 수 없는 형식이라 뺐습니다 (예: {example})",
)
RESULT = Said(
    "{documents}, {tokens}, {layers}, {heads}, {seconds:.1f} s",
    "{documents}, {tokens}, {layers}, {heads}, {seconds:.1f}초",
)
CUT = Said("{documents} cut off after {tokens}", "{documents}를 {tokens}에서 잘랐습니다")
PROBLEMS = {
    "unreadable": Said("{documents} cannot be read:", "읽을 수 없는 {documents}:"),
    "empty": Said("{documents} without any text:", "빈 {documents}:"),
    "too_long": Said(
        "{documents} longer than the model can read, which --max-tokens would cut off:",
        "모델이 읽을 수 있는 것보다 긴 {documents} (--max-tokens로 자를 수 있습니다):",
    ),
    "failed": Said("{documents} ended in an error:", "처리하다가 오류가 난 {documents}:"),
}
CAUSES = {
    "no_utf_8": Said("it is no text in UTF-8: byte {byte} is {value}", "UTF-8 글이 아닙니다 (바이트 {byte}: {value})"),
    "half_character": Said(
        "it is no text: character {place} is half a pair, {code}",
        "온전한 글이 아닙니다 (글자 위치 {place}: 짝이 없는 {code})",
    ),
    "no_json": Said(
        "the line is no JSON: column {column} cannot be read",
        "JSON이 아닌 줄입니다 ({column}번째 칸을 읽을 수 없습니다)",
    ),
    "odd_json": Said(
        "the line is JSON with a number that is too long, or too many brackets in each other",
        "수가 너무 길거나 괄호가 너무 많이 겹쳐 읽을 수 없는 JSON 줄입니다",
    ),
    "no_field": Said("the line is no object with a text in '{field}'", "'{field}' 필드에 글이 든 객체가 아닌 줄입니다"),
    "no_text": Said("there is no text in it", "글이 없습니다"),
    "no_string": Said("it holds no text but {type}", "글이 아니라 `{type}` 값이 들어 있습니다"),
    "no_column": Said("there is no column '{field}'", "'{field}' 열이 없습니다"),
    "no_table": Said("it is no Parquet file, or a broken one", "Parquet 파일이 아니거나 깨진 파일입니다"),
    "no_permission": Said("this process may not read it", "읽을 권한이 없습니다"),
    "not_opened": Said("the system does not read it: {code}", "시스템이 읽지 못합니다 ({code})"),
    "not_planned": Said("it could not be read when the corpus was planned", "말뭉치를 훑을 때 읽을 수 없었습니다"),
    "too_long": Said("{tokens} tokens; the model reads {limit}", "토큰 {tokens}개. 모델은 {limit}개까지 읽습니다"),
    "other_layers": Said(
        "it goes through {these}, and others through {those}",
        "지나는 층이 다릅니다. 이 문서는 {these}, 다른 문서는 {those}",
    ),
    "no_layer": Said(
        "in no layer of {names} do the {count} tokens of a document look at each other",
        "문서의 토큰 {count}개가 서로를 보는 층이 없습니다 (층: {names})",
    ),
    "error": Said("{error}", "`{error}`"),  # as exceptions are: English, so that they can be searched for
}
PROBLEM = Said("  {file}, document {document}", "  {file}, {document}번 문서")
PROBLEM_WHY = Said("  {file}, document {document}: {why}", "  {file}, {document}번 문서: {why}")
MORE = Said("  … and {count:,} more, in problems.parquet", "  … 그 밖에 {count:,}개. problems.parquet에 모두 있습니다")
WRITTEN = Said("{page}: the page; the tables are beside it", "{page}: 결과 페이지. 표도 같은 폴더에 있습니다")
STOPPING = Said(
    "stopping; what is done is kept, and the same command with --resume goes on with it",
    "멈추는 중입니다. 끝난 데까지는 남아 있으니, 같은 명령에 --resume을 붙이면 이어서 합니다",
)
GONE = Said(
    "{path} could be read when the corpus was planned, and cannot be now: {why}; "
    "it must be there, as it was, on every machine that a worker runs on",
    "말뭉치를 훑을 때 읽은 파일을 지금은 읽을 수 없습니다({path}): {why}. "
    "작업자가 도는 모든 컴퓨터에 그때 그대로 있어야 합니다",
)
OTHER_SIZE = Said("it has {now} now, and had {before}", "크기가 {before}에서 {now}로 바뀌었습니다")
OTHER_COUNT = Said("it has {now} now where it had {before}", "전에는 {before}개였는데 지금은 {now}입니다")
SYSTEM = {
    "ENOENT": Said("No such file or directory", "그런 파일이 없습니다"),
    "EACCES": Said("Permission denied", "읽을 권한이 없습니다"),
    "EIO": Said("Input/output error", "읽는 도중에 장치에서 오류가 났습니다"),
}
SYSTEM_CODE = Said("the system says {code}", "시스템 오류 {code}")
NO_CORPUS = Said("there is no {path} to read documents from", "문서를 읽을 파일이나 폴더가 없습니다: {path}")
NO_CENSUS = Said(
    "there is no census in {folder}: it has no {name}", "조사 결과가 없는 폴더입니다({folder}): {name} 없음"
)
OTHER_FORMAT = Said(
    "{path} is of format {there}, and this clearhead reads {known}",
    "{path}: 형식이 {there}입니다. 이 clearhead는 형식 {known}만 읽습니다",
)
MIXED = Said(
    "shard {shard} is of another census: two were taken into one folder; take each into its own",
    "샤드 {shard}: 다른 조사의 것입니다. 한 폴더에 조사 두 개를 담았으니 따로 해 주세요",
)
OTHER_LAYERS = Said(
    "shard {shard} has other layers than those before it: it is of another model",
    "샤드 {shard}: 앞의 샤드와 층이 다릅니다. 다른 모델의 것입니다",
)
NOTHING_TO_SHOW = Said(
    "there is nothing to show of {census}: not one of its documents was counted",
    "보여 줄 것이 없습니다. 센 문서가 하나도 없습니다: `{census}`",
)
NOTHING_READ = Said("not one document could be read", "읽을 수 있는 문서가 하나도 없습니다")
NO_DOCUMENTS = Said("there are no documents in the corpus", "말뭉치에 문서가 없습니다")
NO_MODEL = Said(
    "{model} is no folder with a model: it has no config.json", "모델 폴더가 아닙니다({model}): config.json이 없습니다"
)
NOT_LOADED = Said("{model} cannot be loaded: {why}", "모델을 불러올 수 없습니다({model}): {why}")
NO_EXTRA = Said(
    "ray, pyarrow and transformers 5 are needed: {install}", "ray와 pyarrow, transformers 5가 필요합니다: {install}"
)
PAST_THE_LIMIT = Said(
    "--max-tokens {given} is more than the model can read, which is {limit}",
    "--max-tokens {given}: 모델이 읽을 수 있는 토큰은 {limit}개까지입니다",
)
NOT_A_CENSUS = Said(
    "{out} is there and holds something else; choose a new folder",
    "{out} 폴더에 다른 것이 들어 있습니다. 새 폴더를 골라 주세요",
)
INSIDE = Said(
    "{out} lies in {read}, which is read; choose a folder outside of it",
    "{out} 폴더가 읽을 폴더 {read} 안에 있습니다. 그 밖에 있는 폴더를 골라 주세요",
)
ALREADY_THERE = Said(
    "{out} holds a census already; --resume goes on with it, or choose a new folder",
    "{out} 폴더에 이미 조사 결과가 있습니다. --resume으로 이어서 하거나 새 폴더를 골라 주세요",
)
ANOTHER_CENSUS = Said(
    "{out} holds another census (there, now: {others}); go on as it began, or choose a new folder",
    "{out} 폴더에 있는 것은 다른 조사입니다(폴더, 지금: {others}). 처음과 똑같이 이어서 하거나 새 폴더를 골라 주세요",
)
OTHER_PARTS = {
    "model": Said("model {there}, {now}", "모델 {there}, {now}"),
    "corpus": Said("corpus {there}, {now}", "말뭉치 {there}, {now}"),
}
OTHER_SETTING = Said("{name} {there}, {now}", "`{name}` {there}, {now}")
CALLED = Said("{name} ({digest})", "{name} ({digest})")
NONE = Said("None", "없음")
NOT_CONNECTED = Said("there is no Ray at {address}: {why}", "Ray에 연결할 수 없습니다({address}): {why}")
TOO_MANY_WORKERS = Said(
    "{workers} of {threads} cannot be placed on {machines} (processors: {cpus:g}, on the largest {largest:g}): "
    "{most} can, as each is on one machine; take fewer --workers or --threads",
    "{machines}에 {threads}짜리 {workers}를 둘 자리가 없습니다"
    "(프로세서 모두 {cpus:g}개, 한 대에 많아야 {largest:g}개). "
    "작업자 하나는 컴퓨터 한 대에서 돌기 때문에 {most}개까지 둘 수 있습니다. --workers나 --threads를 줄여 주세요",
)
WORKER_FAILED = Said(
    "a worker could not go on: {why}; what is done is kept, and --resume goes on with it",
    "작업자가 멈췄습니다: {why}. 끝난 데까지는 남아 있으니 --resume으로 이어서 할 수 있습니다",
)
