import HTTPSupport
import Proofs

/// The rate limits on passwords and codes: one for each name and one for each client address.
struct LogInAttempts: Sendable {
    private let ofName: TokenBuckets
    private let fromAddress: TokenBuckets

    init(clock: any WallClock) {
        ofName = TokenBuckets(.init(atOnce: 10, perMinute: 1), clock: clock)
        fromAddress = TokenBuckets(.init(atOnce: 30, perMinute: 6), clock: clock)
    }

    /// Runs an attempt. One that fails uses up one attempt of the name and of the address.
    ///
    /// - Throws: `Problem`, `tooManyAttempts`; the errors of the attempt.
    func run<Value>(_ name: String, from address: String, _ attempt: () async throws -> Value) async throws -> Value {
        try Self.take(address, from: fromAddress)
        do { try Self.take(name, from: ofName) } catch {
            // The attempt was not made.
            fromAddress.returnToken(address)
            throw error
        }
        let value = try await attempt()
        fromAddress.returnToken(address)
        ofName.returnToken(name)
        return value
    }

    private static func take(_ subject: String, from buckets: TokenBuckets) throws(Problem) {
        guard let seconds = buckets.take(subject) else { return }
        throw .tooManyAttempts(secondsToWait: seconds)
    }
}
