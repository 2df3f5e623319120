import Testing

/// Expects a condition to become true within five minutes, for an effect of another task or process. The limit is long, because
/// all tests may share two processors.
package func expectEventually(
    sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async rethrows {
    let deadline = ContinuousClock.now + .seconds(300)
    while ContinuousClock.now < deadline {
        if try await condition() { return }
        // A busy loop would take a processor from the awaited work.
        try? await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("The condition has not become true in five minutes.", sourceLocation: sourceLocation)
}
