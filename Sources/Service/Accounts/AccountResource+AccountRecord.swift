import Features
import Ledger
import Proofs

extension AccountResource {
    init(_ account: AccountRecord) {
        self.init(
            accountId: account.user.name, email: account.email.isEmpty ? nil : account.email,
            emailVerifiedAt: account.emailVerifiedAt?.rfc3339, createdAt: account.createdAt.rfc3339)
    }
}
