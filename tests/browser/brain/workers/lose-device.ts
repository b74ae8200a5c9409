/** Evaluated before the engine: destroys its device at the message `lose`, at the earliest once there is one. */
const requestDevice = GPUAdapter.prototype.requestDevice;
const lose = new Promise<void>((resolve) => {
  self.addEventListener('message', (message) => {
    if (message.data === 'lose') resolve();
  });
});
GPUAdapter.prototype.requestDevice = async function (descriptor) {
  const device = await requestDevice.call(this, descriptor);
  void lose.then(() => device.destroy());
  return device;
};
export {};
