import Accounts
import Commerce
import HTTPSupport
import Hummingbird

/// How often passwords may be tried: by strangers, counted for the account they name, whether there is one or not, and for the
/// address they come from; and by who is in already, whom no stranger can keep out.
struct AccountAttempts: Sendable {
    private let ofAccount: TokenBuckets
    private let ofUser: TokenBuckets
    private let fromAddress: TokenBuckets
    private let questions: TokenBuckets

    init(clock: any WallClock) {
        ofAccount = TokenBuckets(.init(atOnce: 10, perMinute: 1), clock: clock)
        ofUser = TokenBuckets(.init(atOnce: 10, perMinute: 1), clock: clock)
        fromAddress = TokenBuckets(.init(atOnce: 30, perMinute: 6), clock: clock)
        questions = TokenBuckets(.init(atOnce: 120, perMinute: 60), clock: clock)
    }

    /// Does what a stranger needs an account's password for, and counts it when the password is wrong.
    ///
    /// - Parameter email: As it was written: the account is the same however that is.
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
            // Nothing was tried.
            fromAddress.giveBack(address)
            throw error
        }
        return try await counted(attempt) {
            fromAddress.giveBack(address)
            ofAccount.giveBack(account)
        }
    }

    /// The same for who is logged in.
    func `try`<Value>(_ user: User, _ attempt: () async throws -> Value) async throws -> Value {
        try Self.take(user.name, from: ofUser)
        return try await counted(attempt) { ofUser.giveBack(user.name) }
    }

    /// - Parameter giveBack: Called unless the password was wrong: what else goes wrong is no guess.
    private func counted<Value>(_ attempt: () async throws -> Value, giveBack: () -> Void) async throws -> Value {
        do {
            let value = try await attempt()
            giveBack()
            return value
        } catch {
            if ![.credentialsWrong, .passwordWrong].contains(error as? AccountError) { giveBack() }
            throw error
        }
    }

    /// Counts what one address has done.
    func countSignUp(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try Self.take(context.clientAddress(of: request), from: fromAddress)
    }

    /// Counts what one address asks, as somebody types.
    func countQuestion(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try Self.take(context.clientAddress(of: request), from: questions)
    }

    private static func take(_ subject: String, from buckets: TokenBuckets) throws(Problem) {
        guard let seconds = buckets.take(subject) else { return }
        throw Problem(
            status: .tooManyRequests, code: "tooManyAttempts",
            detail: "This was tried too often: wait \(seconds) seconds.", couldSucceedLater: true, retryAfter: seconds)
    }
}
