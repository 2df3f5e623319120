import Logging
import Proofs
import Synchronization

/// An issuer's keys. They are loaded on first use, every hour, and for a token with an unknown `kid`.
///
/// Issuers replace their keys and may be unavailable, so the last loaded keys stay valid for a day. The keys are loaded
/// at most once a minute, whatever tokens arrive.
actor TokenKeys {
    private static let refreshInterval: Int64 = 3_600_000
    private static let maximumAge: Int64 = 86_400_000
    private static let minimumLoadInterval: Int64 = 60_000

    private let source: TokenKeySource
    private let allowed: Set<TokenAlgorithm>
    private let clock: any WallClock
    private let logger: Logger
    private nonisolated let generations = Atomic(0)

    private var current: (set: TokenKeySet, loadedAt: Timestamp)?
    private var triedAt: Timestamp?
    /// The error of the last load. Nil if it succeeded.
    private var failure: TokenKeysError?
    /// The load in progress. All callers that need it await it.
    private var loading: Task<Result<TokenKeySet, TokenKeysError>, Never>?

    init(_ settings: TokenSettings, clock: any WallClock, logger: Logger) {
        source = settings.keys
        allowed = settings.algorithms
        self.clock = clock
        self.logger = logger
    }

    /// The number of loads. A token that was verified with an earlier generation must be verified again.
    nonisolated var generation: Int { generations.load(ordering: .acquiring) }

    /// Returns the key with an identifier, or nil if the issuer has none.
    ///
    /// A known key is returned immediately. If the keys are stale, they are loaded in the background.
    ///
    /// - Throws: `TokenKeysError` if no keys can be loaded and none of the last day are available.
    func key(_ identifier: String) async throws(TokenKeysError) -> TokenKey? {
        let isDue = loading != nil || triedAt.map { age(of: $0) >= Self.minimumLoadInterval } ?? true
        if let current, age(of: current.loadedAt) < Self.maximumAge, let key = current.set[identifier] {
            if age(of: current.loadedAt) >= Self.refreshInterval, isDue, loading == nil { Task { try? await load() } }
            return key
        }
        if isDue { return try await load()[identifier] }
        if let failure { throw failure }
        guard let current, age(of: current.loadedAt) < Self.maximumAge else { throw .unreachable }
        return current.set[identifier]
    }

    @discardableResult
    func load() async throws(TokenKeysError) -> TokenKeySet {
        let task =
            loading
            ?? Task { [source, allowed] in
                do throws(TokenKeysError) {
                    return .success(try TokenKeySet(try await source.load(), allowing: allowed))
                } catch {
                    return .failure(error)
                }
            }
        loading = task
        triedAt = clock.now()
        let result = await task.value
        let isFirst = loading == task
        if isFirst { loading = nil }
        do {
            let set = try result.get()
            if isFirst {
                current = (set, clock.now())
                failure = nil
                generations.add(1, ordering: .releasing)
            }
            return set
        } catch {
            if isFirst {
                failure = error
                logger.error("cannot load the keys of jwt-keys", metadata: ["reason": "\(error.message)"])
            }
            throw error
        }
    }

    /// The age in milliseconds. The absolute value guards against a clock that was set back.
    private func age(of moment: Timestamp) -> Int64 {
        abs(clock.now().millisecondsSince1970 - moment.millisecondsSince1970)
    }
}
