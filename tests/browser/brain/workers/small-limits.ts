/**
 * Evaluated before the engine: an adapter that takes 128 MiB at a time, as many phones' do, and refuses
 * a device with more. Tells the page which limits the device was asked for with.
 */
const MOST = 128 << 20;
const requestDevice = GPUAdapter.prototype.requestDevice;
const limits = Object.getOwnPropertyDescriptor(GPUAdapter.prototype, 'limits')!;

Object.defineProperty(GPUAdapter.prototype, 'limits', {
  get(this: GPUAdapter): GPUSupportedLimits {
    const own = limits.get!.call(this) as GPUSupportedLimits;
    return new Proxy(own, {
      get: (target, name) =>
        name === 'maxStorageBufferBindingSize' ? MOST : Reflect.get(target, name, target),
    });
  },
});
GPUAdapter.prototype.requestDevice = async function (descriptor) {
  const { requiredLimits = {} } = descriptor ?? {};
  self.postMessage({ type: 'limits', limits: { ...requiredLimits } });
  if (Number(requiredLimits.maxStorageBufferBindingSize) > MOST)
    throw new DOMException('The limit is above the adapter’s own.', 'OperationError');
  return requestDevice.call(this, descriptor);
};
export {};
