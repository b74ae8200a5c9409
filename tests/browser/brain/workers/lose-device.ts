/** Evaluated before the engine: keeps its device, and destroys it at the message `lose`. */
const requestDevice = GPUAdapter.prototype.requestDevice;
let device: GPUDevice | undefined;
GPUAdapter.prototype.requestDevice = async function (descriptor) {
  device = await requestDevice.call(this, descriptor);
  return device;
};
self.addEventListener('message', (message) => {
  if (message.data === 'lose') device?.destroy();
});
