import clearhead as ch

translator = ch.Translator.load()
(translated,) = translator.translate(["고양이 세 마리가 공원에서 물을 마셨다"])
aligned = translated.aligned()

figure = ch.visualize_lines(
    aligned.between_words(translator.reader),
    [translated.text[start:stop] for start, stop in aligned.target_words],
    key_tokens=[translated.source[start:stop] for start, stop in aligned.source_words],
)
