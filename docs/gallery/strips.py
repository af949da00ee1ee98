import clearhead as ch

seen = ch.Translator.load().attention("고양이 세 마리가 공원에서 물을 마셨다")
figure = ch.visualize_head(seen.encoder[0], seen.source, head=0)
