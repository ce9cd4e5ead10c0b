import { dlopen } from "bun:ffi";

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;
const MESSAGE_BYTES_MAX = 4096;

/** A service manager's end of sd_notify(3): a datagram socket at `path`. For Linux alone. */
export interface NotifySocket {
  /** What has come since it was opened, in order. */
  received(): readonly string[];
  close(): void;
}

/** Opens the socket. Throws where it can't be. */
export function openNotifySocket(path: string): NotifySocket {
  const { symbols: c } = dlopen("libc.so.6", {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    bind: { args: ["i32", "cstring", "u32"], returns: "i32" },
    recv: { args: ["i32", "ptr", "usize", "i32"], returns: "i64" },
    close: { args: ["i32"], returns: "i32" },
  });
  const descriptor = c.socket(AF_UNIX, SOCK_DGRAM, 0);
  const address = Buffer.concat([Buffer.from([AF_UNIX, 0]), Buffer.from(path)]);
  if (c.bind(descriptor, address, address.length) !== 0) throw new Error(`can't bind ${path}`);
  const messages: string[] = [];
  const buffer = new Uint8Array(MESSAGE_BYTES_MAX);
  return {
    received() {
      for (;;) {
        const length = Number(c.recv(descriptor, buffer, buffer.length, MSG_DONTWAIT));
        if (length <= 0) return messages;
        messages.push(new TextDecoder().decode(buffer.subarray(0, length)));
      }
    },
    close: () => void c.close(descriptor),
  };
}
