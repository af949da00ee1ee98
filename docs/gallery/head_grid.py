import clearhead as ch

seen = ch.Translator.load().attention("고양이가 쥐를 잡았다")
first_block = seen.encoder[0]  # (h, n, n)
figure = ch.visualize_attention(first_block, seen.source, values=False)
