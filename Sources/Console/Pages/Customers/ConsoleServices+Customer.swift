import Features
import HTTPSupport
import Proofs

extension ConsoleServices {
    /// The user of the path, whom the ledger knows.
    ///
    /// - Throws: `Problem`, `userNotFound`.
    func customer(_ context: ConsoleContext) async throws -> User {
        let user = try ConsolePath.customer(context.parameters)
        guard try await entitlements.customer(user) != nil else { throw Problem.userNotFound }
        return user
    }
}
