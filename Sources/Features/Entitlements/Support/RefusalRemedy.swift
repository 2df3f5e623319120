import Proofs

/// The cause and the remedy of a refusal, for the team.
package struct RefusalRemedy: Hashable, Sendable {
    package let cause: String
    package let remedy: String

    /// - Parameter code: The code of a refusal.
    /// - Returns: Nil for another code.
    package init?(code: String) {
        switch code {
        case Redemption.Result.ownedByAnotherUser.rawValue:
            self.init(
                "Another user has redeemed the purchase and keeps it.",
                "Ask the customer to log in as that user, or revoke the purchase there and grant the item here.")
        case Redemption.Result.transferTooSoon.rawValue:
            self.init(
                "The purchase was recently transferred to another user.",
                "Wait until the pause of the ownership policy is over, then restore the purchase.")
        case Redemption.Result.appAccountTokenMismatch.rawValue:
            self.init(
                "The purchase has another user's account token.",
                "Ask the customer to log in as the user who bought it.")
        case Redemption.Result.productUnknown.rawValue:
            self.init(
                "The catalog does not have the product.",
                "Add the product to the catalog. The app's next restore redeems the purchase.")
        case Redemption.Result.transactionConflict.rawValue:
            self.init(
                "The ledger has another product under the identifier of this transaction.",
                "Compare the proofs of both. If the customer has paid for this one, grant its item.")
        case "originNotAccepted", "environmentMismatch":
            self.init(
                "The purchase comes from an environment that is not accepted for this user, such as the sandbox.",
                "For a tester, add the user to `sandbox-users`. For a customer, check the build of the app.")
        case "bundleIdentifierMismatch":
            self.init(
                "The proof is for another app.",
                "Check which app the customer has, and the bundle identifier of the catalog.")
        default: return nil
        }
    }

    private init(_ cause: String, _ remedy: String) {
        self.cause = cause
        self.remedy = remedy
    }
}
