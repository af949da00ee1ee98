// What a notebook runs: a frame with the page in it, and its questions passed on to the kernel and back.

/**
 * As anywidget hands it to us.
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(content: unknown) => void} send
 * @property {(event: string, listener: (...received: any[]) => void) => void} on
 * @property {(event: string, listener: (...received: any[]) => void) => void} off
 */

/**
 * @param {{ model: Model, el: HTMLElement }} widget
 * @returns {() => void}  what to do when the cell is gone
 */
function render({ model, el }) {
  const frame = document.createElement("iframe");
  const view = `${Date.now()} ${Math.random()}`; // the same widget may be shown twice
  const channel = new MessageChannel();
  frame.title = "clearhead";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads allow-modals");
  Object.assign(frame.style, { width: "100%", height: `${model.get("height")}px`, border: "0", display: "block", resize: "vertical", overflow: "auto" });
  const greeted = (/** @type {MessageEvent} */ event) => {
    if (event.source !== frame.contentWindow || event.data !== "clearhead ready") return;
    removeEventListener("message", greeted);
    frame.contentWindow?.postMessage("clearhead port", "*", [channel.port2]);
  };
  const answered = (/** @type {{ view: string, id: number, error?: string }} */ message, /** @type {DataView[]} */ buffers) => {
    if (message.view !== view) return;
    if (message.error !== undefined) return channel.port1.postMessage({ id: message.id, error: message.error });
    const { buffer, byteOffset, byteLength } = buffers[0];
    const own = buffer.slice(byteOffset, byteOffset + byteLength);
    channel.port1.postMessage({ id: message.id, buffer: own }, /** @type {Transferable[]} */ ([own]));
  };
  channel.port1.onmessage = ({ data }) => model.send({ view, ...data });
  addEventListener("message", greeted);
  model.on("msg:custom", answered);
  frame.srcdoc = model.get("document");
  el.append(frame);
  return () => {
    removeEventListener("message", greeted);
    model.off("msg:custom", answered);
    channel.port1.close();
    frame.remove();
  };
}

export default { render };
