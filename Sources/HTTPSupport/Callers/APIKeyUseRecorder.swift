import Logging
import ServiceLifecycle

/// Writes the last uses of API keys to the ledger each minute, and when the service stops.
///
/// A crash loses at most a minute's uses.
package struct APIKeyUseRecorder: Service {
    private static let interval = Duration.seconds(60)
    /// The longest delay of a stop, if the database server is away.
    private static let lastTimeout = Duration.seconds(2)

    private let keys: APIKeys
    private let logger: Logger

    package init(keys: APIKeys, logger: Logger) {
        self.keys = keys
        self.logger = logger
    }

    /// Runs until the service stops.
    package func run() async throws {
        for await _ in AsyncStream.ticks(every: Self.interval).cancelOnGracefulShutdown() { await record() }
        await recordLast()
    }

    private func recordLast() async {
        let (ends, ending) = AsyncStream<Void>.makeStream()
        Task {
            await record()
            ending.finish()
        }
        Task {
            try? await Task.sleep(for: Self.lastTimeout)
            ending.finish()
        }
        for await _ in ends {}
    }

    private func record() async {
        do {
            try await keys.recordUses()
        } catch {
            logger.debug(
                "the last uses of API keys are not recorded",
                metadata: ["code": "\(Problem.code(of: error))"])
        }
    }
}
