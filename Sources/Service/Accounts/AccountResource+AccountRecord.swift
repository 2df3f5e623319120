import Accounts
import Commerce
import Ledger
import Wire

extension AccountResource {
    init(_ account: AccountRecord) {
        self.init(accountId: account.user.name, email: account.email, createdAt: account.createdAt.rfc3339)
    }
}
