"""What `clearhead census` says, in Korean and in English. What its page says is in page/web/census_strings.js."""

from __future__ import annotations

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
LOOKING = Said("reading the corpus", "말뭉치를 훑는 중")
STARTING = Said(
    "{done:,} of {of:,} documents are done; starting Ray, and loading the model",
    "문서 {of:,}개 중 {done:,}개 끝남. Ray를 시작하고 모델을 불러오는 중",
)
PROGRESS = Said(
    "{done:,} of {of:,} documents · {rate:,.0f} tokens/s · {left} left",
    "문서 {of:,}개 중 {done:,}개 · 초당 토큰 {rate:,.0f}개 · 남은 시간 {left}",
)
LEFT_OUT = Said(
    "left out, as files of no kind that is read, of those in folders: {count:,}, such as {example}",
    "폴더 안의 파일 {count:,}개는 읽을 수 없는 형식이라 뺐습니다 (예: {example})",
)
RESULT = Said(
    "{documents:,} documents, {tokens:,} tokens, {layers} layers, {heads} heads, {seconds:.1f} s",
    "문서 {documents:,}개, 토큰 {tokens:,}개, 층 {layers}개, 헤드 {heads}개, {seconds:.1f}초",
)
CUT = Said(
    "{count:,} documents were cut off after {most:,} tokens", "문서 {count:,}개를 토큰 {most:,}개에서 잘랐습니다"
)
PROBLEMS = {
    "unreadable": Said("{count:,} documents cannot be read:", "읽을 수 없는 문서 {count:,}개:"),
    "empty": Said("{count:,} documents are empty:", "빈 문서 {count:,}개:"),
    "too_long": Said(
        "{count:,} documents are longer than the model can read (--max-tokens cuts them off):",
        "모델이 읽을 수 있는 것보다 긴 문서 {count:,}개 (--max-tokens로 자를 수 있습니다):",
    ),
    "failed": Said("{count:,} documents ended in an error:", "처리하다가 오류가 난 문서 {count:,}개:"),
}
PROBLEM = Said("  {file}, document {document}", "  {file}, {document}번 문서")
PROBLEM_WHY = Said("  {file}, document {document}: {why}", "  {file}, {document}번 문서: {why}")
MORE = Said("  … and {count:,} more, in problems.parquet", "  … 그 밖에 {count:,}개. problems.parquet에 모두 있습니다")
WRITTEN = Said("{page}: the page; the tables are beside it", "{page}: 결과 페이지. 표도 같은 폴더에 있습니다")
STOPPED = Said(
    "stopped; what is done is kept, and the same command with --resume goes on with it",
    "멈췄습니다. 끝난 데까지는 남아 있으니, 같은 명령에 --resume을 붙이면 이어서 합니다",
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
NOT_CONNECTED = Said("there is no Ray at {address}: {why}", "Ray에 연결할 수 없습니다({address}): {why}")
TOO_MANY_WORKERS = Said(
    "{workers} workers of {threads} threads do not fit on {machines} machines with {cpus:g} processors, {largest:g} on "
    "the largest: {most} do, as each is on one machine; take fewer --workers or --threads",
    "컴퓨터 {machines}대에 작업자 {workers}개를 돌릴 자리가 없습니다. "
    "프로세서는 모두 {cpus:g}개이고 한 대에 많아야 {largest:g}개인데, "
    "작업자 하나는 컴퓨터 한 대에서 돌기 때문에 스레드 {threads}개짜리는 {most}개까지 돌릴 수 있습니다. "
    "--workers나 --threads를 줄여 주세요",
)
WORKER_FAILED = Said(
    "a worker could not go on: {why}; what is done is kept, and --resume goes on with it",
    "작업자가 멈췄습니다: {why}. 끝난 데까지는 남아 있으니 --resume으로 이어서 할 수 있습니다",
)
