import Commerce
import Hummingbird

/// How often strangers may sign up, log in and ask: counted for the account they name, whether there is one or not, and for
/// the address they come from.
struct AccountAttempts: Sendable {
    private let ofAccount: AttemptLimiter
    private let fromAddress: AttemptLimiter
    private let questions: AttemptLimiter
    private let addresses: ClientAddresses

    init(addresses: ClientAddresses, clock: any WallClock) {
        self.addresses = addresses
        ofAccount = AttemptLimiter(.init(atOnce: 10, perMinute: 1), clock: clock)
        fromAddress = AttemptLimiter(.init(atOnce: 30, perMinute: 6), clock: clock)
        questions = AttemptLimiter(.init(atOnce: 120, perMinute: 60), clock: clock)
    }

    /// Does what needs an account's password, and counts it unless it succeeds.
    ///
    /// - Parameter account: As it was named.
    func `try`<Value>(
        _ account: String,
        _ request: Request,
        _ context: ServiceContext,
        _ attempt: () async throws -> Value
    ) async throws -> Value {
        let address = addresses.address(of: request, context)
        let account = account.lowercased()
        try fromAddress.count(address)
        try ofAccount.count(account)
        let value = try await attempt()
        fromAddress.giveBack(address)
        ofAccount.giveBack(account)
        return value
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
