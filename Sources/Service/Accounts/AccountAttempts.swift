import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The rate limits on passwords: one for each account and one for each client address.
///
/// Logged-in users have a limit of their own, so a stranger cannot lock them out. An unknown address is limited like an
/// account.
struct AccountAttempts: Sendable {
    private let ofAccount: TokenBuckets
    private let ofUser: TokenBuckets
    private let fromAddress: TokenBuckets
    private let lookups: TokenBuckets

    init(clock: any WallClock) {
        ofAccount = TokenBuckets(.init(atOnce: 10, perMinute: 1), clock: clock)
        ofUser = TokenBuckets(.init(atOnce: 10, perMinute: 1), clock: clock)
        fromAddress = TokenBuckets(.init(atOnce: 30, perMinute: 6), clock: clock)
        lookups = TokenBuckets(.init(atOnce: 120, perMinute: 60), clock: clock)
    }

    /// Runs an attempt that needs the password of an account. A wrong password uses up one attempt.
    ///
    /// - Parameter email: The address as the client sent it. Its case does not matter.
    func `try`<Value>(
        _ email: String,
        _ request: Request,
        _ context: ServiceContext,
        _ attempt: () async throws -> Value
    ) async throws -> Value {
        let address = context.clientAddress(of: request)
        let account = (try? EmailAddress(email))?.lowercase ?? email
        try Self.take(address, from: fromAddress)
        do { try Self.take(account, from: ofAccount) } catch {
            // The attempt was not made.
            fromAddress.returnToken(address)
            throw error
        }
        return try await counted(attempt) {
            fromAddress.returnToken(address)
            ofAccount.returnToken(account)
        }
    }

    /// Runs an attempt of a logged-in user.
    func `try`<Value>(_ user: User, _ attempt: () async throws -> Value) async throws -> Value {
        try Self.take(user.name, from: ofUser)
        return try await counted(attempt) { ofUser.returnToken(user.name) }
    }

    /// - Parameter returnToken: Called unless the password was wrong. Another failure is not a guess.
    private func counted<Value>(_ attempt: () async throws -> Value, returnToken: () -> Void) async throws -> Value {
        do {
            let value = try await attempt()
            returnToken()
            return value
        } catch {
            if ![.credentialsWrong, .passwordWrong].contains(error as? AccountError) { returnToken() }
            throw error
        }
    }

    /// Takes a token for a sign-up or a request for a mail from the limit of the client address.
    func countSignUp(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try Self.take(context.clientAddress(of: request), from: fromAddress)
    }

    /// Takes a token for a question, such as whether an address is free, from the limit of the client address.
    func countLookup(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try Self.take(context.clientAddress(of: request), from: lookups)
    }

    private static func take(_ subject: String, from buckets: TokenBuckets) throws(Problem) {
        guard let seconds = buckets.take(subject) else { return }
        throw .tooManyAttempts(secondsToWait: seconds)
    }
}
