import Commerce
import Logging
import Synchronization

/// An issuer's keys, loaded at first need, again every hour, and when a token names one that is unknown.
///
/// Issuers replace their keys and go away for a while: the last keys seen stay good for a day. Whatever tokens arrive, keys
/// are not asked for more than once a minute.
package actor TokenKeys {
    private static let freshFor: Int64 = 3_600_000
    private static let goodFor: Int64 = 86_400_000
    private static let pause: Int64 = 60_000

    private let source: TokenKeySource
    private let allowed: Set<TokenAlgorithm>
    private let clock: any WallClock
    private let logger: Logger
    private nonisolated let generations = Atomic(0)

    private var current: (set: TokenKeySet, loadedAt: Timestamp)?
    private var triedAt: Timestamp?
    /// Why the last loading failed; nil where it did not.
    private var failure: TokenKeysError?
    /// The loading under way, which everybody who needs it waits for.
    private var loading: Task<Result<TokenKeySet, TokenKeysError>, Never>?

    package init(source: TokenKeySource, allowing allowed: Set<TokenAlgorithm>, clock: any WallClock, logger: Logger) {
        self.source = source
        self.allowed = allowed
        self.clock = clock
        self.logger = logger
    }

    /// How often keys were loaded; what was verified with those of an earlier time may not be good any more.
    nonisolated var generation: Int { generations.load(ordering: .acquiring) }

    /// The key of an identifier; nil when the issuer has none.
    ///
    /// A key that is known is answered at once, and keys that are no longer fresh are loaded behind it.
    ///
    /// - Throws: `TokenKeysError` when the issuer's keys are not to be had, not even those of the last day.
    package func key(_ identifier: String) async throws(TokenKeysError) -> TokenKey? {
        let isDue = loading != nil || triedAt.map { age(of: $0) >= Self.pause } ?? true
        if let current, age(of: current.loadedAt) < Self.goodFor, let key = current.set[identifier] {
            if age(of: current.loadedAt) >= Self.freshFor, isDue, loading == nil { Task { try? await load() } }
            return key
        }
        if isDue { return try await load()[identifier] }
        if let failure { throw failure }
        guard let current, age(of: current.loadedAt) < Self.goodFor else { throw .unreachable }
        return current.set[identifier]
    }

    @discardableResult
    package func load() async throws(TokenKeysError) -> TokenKeySet {
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
                logger.error("the keys of jwt-keys cannot be loaded", metadata: ["reason": "\(error.message)"])
            }
            throw error
        }
    }

    /// In milliseconds; a clock that was set back makes nothing younger than it is.
    private func age(of moment: Timestamp) -> Int64 {
        abs(clock.now().millisecondsSince1970 - moment.millisecondsSince1970)
    }
}
