import Accounts
import Commerce
import Hummingbird

/// How often passwords may be tried: by strangers, counted for the account they name, whether there is one or not, and for the
/// address they come from; and by who is in already, whom no stranger can keep out.
struct AccountAttempts: Sendable {
    private let ofAccount: AttemptLimiter
    private let ofUser: AttemptLimiter
    private let fromAddress: AttemptLimiter
    private let questions: AttemptLimiter
    private let addresses: ClientAddresses

    init(addresses: ClientAddresses, clock: any WallClock) {
        self.addresses = addresses
        ofAccount = AttemptLimiter(.init(atOnce: 10, perMinute: 1), clock: clock)
        ofUser = AttemptLimiter(.init(atOnce: 10, perMinute: 1), clock: clock)
        fromAddress = AttemptLimiter(.init(atOnce: 30, perMinute: 6), clock: clock)
        questions = AttemptLimiter(.init(atOnce: 120, perMinute: 60), clock: clock)
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
        let address = addresses.address(of: request, context)
        let account = (try? EmailAddress(email))?.lowercase ?? email
        try fromAddress.count(address)
        do { try ofAccount.count(account) } catch {
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
        try ofUser.count(user.name)
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
        try fromAddress.count(addresses.address(of: request, context))
    }

    /// Counts what one address asks, as somebody types.
    func countQuestion(_ request: Request, _ context: ServiceContext) throws(Problem) {
        try questions.count(addresses.address(of: request, context))
    }
}
