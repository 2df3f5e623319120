import HTTPSupport
import Ledger
import Logging
import ServiceLifecycle

/// Work that the ledger has until it is done, such as reports to a store. It is looked for again and again until the service stops.
///
/// The end of the service cancels what is under way. The ledger still has it, so the next run does it again.
package struct DurableWork: Service {
    /// The number of pieces of work in one read of the ledger.
    static let pageSize = 100

    private let repetition: RepeatedWork
    private let work: @Sendable () async throws -> Bool

    /// - Parameters:
    ///   - failure: The message about a run that fails.
    ///   - retry: The pauses after runs that fail; nil for a second at first.
    ///   - onFailure: Called with the code of the error of a run.
    init(
        _ failure: Logger.Message, in ledger: Ledger, logger: Logger, retry: ClosedRange<Duration>? = nil,
        onFailure: @escaping @Sendable (_ code: String) -> Void = { _ in },
        perform: @escaping @Sendable () async throws -> Bool
    ) {
        repetition = RepeatedWork(
            failure, Rhythm(every: .seconds(1), idle: .seconds(5), retry: retry), awaiting: ledger, logger: logger,
            onFailure: onFailure)
        work = perform
    }

    /// Performs all that is due now.
    ///
    /// - Returns: True if there was any.
    @discardableResult
    package func perform() async throws -> Bool { try await work() }

    package func run() async throws {
        try await repetition.companion(work).run()
    }

    /// The beginning of the loop of `run` in a time that a simulation counts.
    package func loop(from now: ContinuousClock.Instant) -> Repetition { repetition.repetition(from: now) }

    /// Performs the next round of such a loop, if it is due.
    ///
    /// - Parameter isChanged: True after a commit to the ledger.
    package func look(
        in loop: inout Repetition, at now: ContinuousClock.Instant, afterChange isChanged: Bool
    ) async {
        await repetition.run(work, in: &loop, afterChange: isChanged, at: { now })
    }

    /// Performs each piece of work that is due, page by page.
    ///
    /// - Parameters:
    ///   - maximum: The largest number of pieces at the same time.
    ///   - due: Returns a page.
    /// - Returns: True if there was any.
    static func each<Piece: Sendable>(
        of due: () async throws -> (due: [Piece], mayBeMore: Bool), atOnce maximum: Int = 1,
        _ perform: @escaping @Sendable (Piece) async throws -> Void
    ) async throws -> Bool {
        var found = false
        while true {
            let (pieces, mayBeMore) = try await due()
            found = found || !pieces.isEmpty
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, piece) in pieces.enumerated() {
                    if index >= maximum { try await group.next() }
                    // The end of the service may have come while the loop waited. A piece that begins now would only use up an attempt.
                    guard group.addTaskUnlessCancelled(operation: { try await perform(piece) }) else { break }
                }
                try await group.waitForAll()
            }
            guard mayBeMore, !Task.isCancelled else { return found }
        }
    }
}
