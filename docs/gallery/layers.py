import clearhead as ch

seen = ch.Translator.load().attention("고양이 세 마리가 공원에서 물을 마셨다")
stacks = {"encoder": seen.encoder, "decoder": seen.decoder, "cross": seen.cross}
layers = {f"{name} {i}": weights for name, stack in stacks.items() for i, weights in enumerate(stack)}

figure = ch.visualize_layers(list(layers.values()), layer_names=list(layers))
