import HTTPSupport
import ServiceLifecycle

/// Work that the ledger has until it is done, such as reports to a store. It is looked for again and again until the service stops.
///
/// The end of the service cancels what is under way. The ledger still has it, so the next run does it again.
package struct DurableWork: Service {
    private static let interval = Duration.seconds(1)
    /// The number of pieces of work in one read of the ledger.
    static let pageSize = 100

    /// The pause after a run that has failed.
    var pauseAfterFailure = interval
    /// Performs all that is due now.
    package let perform: @Sendable () async throws -> Void
    /// Reports the code of the error of a run.
    let report: @Sendable (_ code: String) -> Void

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                var pause = Self.interval
                do {
                    try await perform()
                } catch {
                    guard !Task.isCancelled else { return }
                    report(Problem.code(of: error))
                    pause = pauseAfterFailure
                }
                // Cancellation ends the pause early, and the loop then ends.
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// Performs each piece of work that is due, page by page.
    ///
    /// - Parameters:
    ///   - maximum: The largest number of pieces at the same time.
    ///   - due: Returns a page.
    static func each<Piece: Sendable>(
        of due: () async throws -> (due: [Piece], mayBeMore: Bool), atOnce maximum: Int = 1,
        _ perform: @escaping @Sendable (Piece) async throws -> Void
    ) async throws {
        while true {
            let (pieces, mayBeMore) = try await due()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, piece) in pieces.enumerated() {
                    if index >= maximum { try await group.next() }
                    // The end of the service may have come while the loop waited. A piece that begins now would only use up an attempt.
                    guard group.addTaskUnlessCancelled(operation: { try await perform(piece) }) else { break }
                }
                try await group.waitForAll()
            }
            guard mayBeMore, !Task.isCancelled else { return }
        }
    }
}
