// Goes on where a connection was cut: sends the last position when the library subscribes again. docs/subscriptions.md has it too.
export const resuming = (client) => ({
  ...client,
  subscribe(payload, sink) {
    const request = { ...payload, extensions: { ...payload.extensions } };
    return client.subscribe(request, {
      next(result) {
        if (result.extensions?.position) request.extensions.after = result.extensions.position;
        sink.next(result);
      },
      error: (error) => sink.error(error),
      complete: () => sink.complete(),
    });
  },
});
