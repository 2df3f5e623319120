extension AsyncStream<Void> {
    /// Returns a stream with an element after each pause. It ends when the consumer is cancelled.
    package static func ticks(every pause: Duration) -> AsyncStream<Void> {
        AsyncStream { (try? await Task.sleep(for: pause)).map { _ in } }
    }
}
