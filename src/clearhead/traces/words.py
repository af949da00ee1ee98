"""What `clearhead trace` says, in Korean and in English."""

from __future__ import annotations

from clearhead.languages import Said

DESCRIPTION = Said(
    """\
Run a model of transformers on a text, and keep what every head of it looks at.

Prints what each head does, layer by layer, and writes all of it to a file that
clearhead.load_trace opens, whatever its size.""",
    """\
transformers의 모델로 글을 읽고, 모든 헤드가 무엇을 보는지 기록합니다.

층마다 헤드가 하는 일을 표로 보여 주고, 모두 파일 하나에 담습니다. 파일은 크기에
상관없이 clearhead.load_trace로 바로 열 수 있습니다.""",
)
EXAMPLES = Said(
    """\
examples:
  {program} --model gpt2 --text story.txt -o story.safetensors
  {program} --model ./my-model --text - --generate 50 -o out.safetensors
  {program} --model gpt2 --probe
""",
    """\
예:
  {program} --model gpt2 --text story.txt -o story.safetensors
  {program} --model ./my-model --text - --generate 50 -o out.safetensors
  {program} --model gpt2 --probe
""",
)
OPTIONS = {
    "model": Said(
        "a folder with a model and its tokenizer, or a name that transformers knows",
        "모델과 토크나이저가 든 폴더, 또는 transformers가 아는 이름",
    ),
    "text": Said("a file with the text to read; - is what comes in", "읽을 글이 든 파일. -이면 표준 입력에서 읽습니다"),
    "out": Said(
        "the file to write the trace to (default: none is written)", "기록을 담을 파일 (기본값: 파일을 만들지 않습니다)"
    ),
    "generate": Said(
        "let the model write so many tokens after the text, and keep those too",
        "모델이 글 뒤에 토큰을 이만큼 더 쓰게 하고, 그것까지 기록합니다",
    ),
    "layers": Said(
        "only these layers, by number or module path (default: all)", "기록할 층의 번호나 모듈 경로 (기본값: 모두)"
    ),
    "probe": Said(
        "score induction heads on a random sequence that is given twice; needs no text",
        "같은 무작위 토큰열을 두 번 읽혀 인덕션 헤드를 채점합니다. 글이 필요 없습니다",
    ),
    "slow": Said(
        "for models with attention of their own: take the weights they write out themselves, n × n",
        "어텐션을 스스로 계산하는 모델에서, 모델이 직접 펼친 n × n 가중치를 받습니다",
    ),
}
LAYERS = {
    "": Said("layer {number}", "층 {number}"),
    "encoder": Said("encoder {number}", "인코더 {number}"),
    "decoder": Said("decoder {number}", "디코더 {number}"),
    "cross": Said("cross {number}", "크로스 {number}"),
}
FIRST_TRACE = Said("this model", "이 모델")
NO_TEXT = Said(
    "--text FILE is missing (or --probe, which needs none)", "--text FILE이 없습니다 (--probe에는 필요 없습니다)"
)
NO_GENERATION = Said(
    "{model} does not write text; leave out --generate",
    "글을 쓰지 않는 모델입니다({model}). --generate를 빼 주세요",
)
EMPTY_TEXT = Said("{path} holds no text", "{path}에 글이 없습니다")
NO_FILE = Said("there is no file {path}", "{path} 파일이 없습니다")
IS_FOLDER = Said(
    "{path} is a folder, and a trace is one file; give the file: {found}",
    "{path} 경로는 폴더입니다. 기록은 파일 하나이니 파일을 지정해 주세요: {found}",
)
EMPTY_FOLDER = Said(
    "{path} is a folder, and a trace is one file; there is none in it (`clearhead trace … -o FILE` or trace.save(FILE) "
    "writes one)",
    "{path} 경로는 폴더이고, 그 안에 기록이 없습니다. 기록은 파일 하나이며 `clearhead trace … -o FILE`이나 "
    "trace.save(FILE)로 만듭니다",
)
UNFINISHED = Said(
    "{path} is the folder of a trace that is still being made, or whose process was stopped before its file was there; "
    "the file is written when the block ends, so trace again, to {target}",
    "{path} 폴더에는 아직 기록하는 중이거나 중간에 멈춘 기록이 있습니다. 파일은 블록이 끝날 때 만들어지니 {target}에 "
    "다시 기록해 주세요",
)
NOT_TEXT = Said("{path} is no text in UTF-8", "{path} 파일을 UTF-8 글로 읽을 수 없습니다")
LOADING = Said("loading {model}", "불러오는 중: {model}")
RUNNING = Said("running {model}", "실행하는 중: {model}")
LOOKING = Said("looking at the heads", "헤드를 살펴보는 중")
READ = Said(
    "{model}: {tokens} tokens, {layers} layers, {heads} heads, {seconds:.1f} s",
    "{model}: 토큰 {tokens}개, 층 {layers}개, 헤드 {heads}개, {seconds:.1f}초",
)
WRITTEN = Said("{path}: {size:.1f} MiB", "{path}: {size:.1f} MiB")
INDUCTION = Said("induction, the strongest heads first:", "인덕션 점수가 높은 헤드부터:")
HEADS = Said("head", "헤드")
MORE = Said("… {count} more", "… 그 밖에 {count}개")
HEAD = Said("{layer}  head {head:3}  {score:.3f}", "{layer}  헤드 {head:3}  {score:.3f}")
NOT_WHOLE = Said(
    "{path} is not a whole safetensors file: {error} (was it cut short, or damaged? trace.save writes it anew)",
    "{path} 파일은 온전한 safetensors 파일이 아닙니다: {error} (잘렸거나 손상되었다면 trace.save로 다시 저장할 수 "
    "있습니다)",
)
UNREADABLE = Said(
    "{path} is damaged: its description cannot be read (trace.save writes it anew)",
    "{path} 파일이 손상되어 설명을 읽을 수 없습니다(trace.save로 다시 저장할 수 있습니다)",
)
NO_TRACE = Said(
    "{path} is not a trace but holds {what}; trace.save writes traces",
    "{path} 파일은 기록이 아닙니다(내용: {what}). 기록은 trace.save로 저장합니다",
)
IS_PART = Said(
    "{path} is what one of several processes wrote of a trace; {first} opens all of it",
    "{path} 파일은 여러 프로세스가 함께 저장한 기록의 한 조각입니다. {first} 파일을 열면 전체를 볼 수 있습니다",
)
PARTS_MISSING = Said(
    "{path} is a trace that {ranks} processes wrote, each its own part, and not all parts are beside it: bring "
    "{missing} there",
    "{path} 파일은 프로세스 {ranks}개가 나누어 저장한 기록인데, 같은 폴더에 조각이 모두 있지 않습니다. 다음 파일을 "
    "옮겨 주세요: {missing}",
)
PART_OF_ANOTHER = Said(
    "{path} is a part of another trace than {first}; bring the one that was written with it",
    "{path} 파일은 {first} 파일과 함께 저장한 조각이 아닙니다. 함께 저장한 파일로 바꿔 주세요",
)
SOMETHING_ELSE = Said("something else", "다른 것")
OTHER_VERSION = Said(
    "{path} was written by clearhead {clearhead}, in version {version} of the format, and this one reads versions "
    "{readable}; install that clearhead",
    "{path} 파일은 clearhead {clearhead}에서 저장한 것이며 형식 버전은 {version}입니다. 지금 clearhead가 읽는 버전은 "
    "{readable}이니, 저장한 clearhead를 설치해 주세요",
)
NO_HF = Said(
    "transformers 5 is needed: {install}",
    "transformers 5가 필요합니다: {install}",
)
NOT_LOADED = Said("{model} cannot be loaded: {why}", "모델을 불러올 수 없습니다({model}): {why}")
VIEW = Said(
    """\
Walk through a trace in the browser, from all heads down to one weight.

The page is served from this machine to this machine, at an address that nobody
can guess, and maps are computed as they are looked at: 32,000 tokens open as
32 do. Ctrl-C ends it.""",
    """\
기록한 어텐션을 브라우저에서 살펴봅니다. 전체 헤드에서 가중치 하나까지 볼 수 있습니다.

페이지는 이 컴퓨터 안에서만, 추측할 수 없는 주소로 열립니다. 지도는 보는 대로 계산하므로
토큰이 32개든 32,000개든 똑같이 열립니다. Ctrl-C를 누르면 끝납니다.""",
)
VIEW_EXAMPLES = Said(
    """\
examples:
  {program} story.safetensors
  {program} story.safetensors --no-browser --port 8123
""",
    """\
예:
  {program} story.safetensors
  {program} story.safetensors --no-browser --port 8123
""",
)
VIEW_OPTIONS = {
    "file": Said(
        "a trace, as `clearhead trace` or trace.save wrote it", "`clearhead trace`나 trace.save로 저장한 기록"
    ),
    "call": Said(
        "which forward, where there were several (default: the first)", "모델을 여러 번 불렀을 때 볼 호출 (기본값: 0번)"
    ),
    "sequence": Said(
        "which sequence of a batch, where there were several (default: the first)",
        "배치에 글이 여럿일 때 볼 글 (기본값: 0번)",
    ),
    "port": Said("the port to listen on (default: one that is free)", "사용할 포트 (기본값: 빈 포트)"),
    "no_browser": Said("print the address, and open nothing", "브라우저를 열지 않고 주소만 보여 줍니다"),
}
NO_CALL = Said(
    "there is no call {number}; there are {count}: 0 … {last}",
    "{number}번 호출이 없습니다. 0번부터 {last}번까지 {count}개입니다",
)
NO_SEQUENCE = Said(
    "there is no sequence {number}; there are {count}: 0 … {last}",
    "{number}번 글이 없습니다. 0번부터 {last}번까지 {count}개입니다",
)
