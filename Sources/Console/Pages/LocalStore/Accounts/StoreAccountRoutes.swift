import AppStore
import HTTPSupport
import Hummingbird
import Proofs

/// An account of the local store: its clock, its receipt, the restoration of its purchases and its family.
extension LocalStoreRoutes {
    private static let relative = Field.text(
        "relative", "Account of the family member", upTo: Store.maximumAccountLength, isRequired: true)

    func addAccounts(to pages: ConsolePages) {
        // As the app reads it on the customer's device.
        pages.get("store/account/receipt", .store) { request, _ in
            guard let account = try StoreSelection(request)[.account] else {
                throw Problem.parameter("account", "the name of an account")
            }
            let receipt = try await BlockingWork.run { try store.read { try $0.receipt(account: account) } }
            return Response(
                status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: receipt + "\n")))
        }
        func add(
            _ path: RouterPath, _ notice: Notice = .performed,
            _ action: @escaping @Sendable (Books, String, ConsoleForm) throws -> Void
        ) {
            pages.postStore(path) { _, context in
                let account = try context.form.requiredText("account", upTo: Store.maximumAccountLength)
                try store.write { try action($0, account, context.form) }
                return StoreSelection(account: account).path(done: notice)
            }
        }
        add("store/account/restore", .restored) { books, account, _ in
            try books.restoreCompletedTransactions(account: account)
        }
        add("store/account/family") { books, account, form in
            let relative = try form.requiredText("relative", upTo: Store.maximumAccountLength)
            try books.join(relative, familyOf: account)
        }
        add("store/account/family/leave") { books, account, _ in try books.leaveFamily(account) }
    }

    /// The card of an account above its transactions: purchase, restoration, clock, receipt and family.
    func accountPart(_ account: String, _ context: ConsoleContext) throws -> HTML {
        let family = try store.read { try $0.family(of: account) }
        let now = try store.read { try $0.isKnown(account) ? try $0.time(of: account) : nil }
        let hidden = input(.type("hidden"), .name("account"), .value(account))
        return section(.class("card")) {
            h2 { data(account) }
            div(.class("actions")) {
                Self.purchase(of: account)
                context.form(to: ConsolePath("store", "account", "restore")) {
                    hidden
                    button { "Restore purchases" }
                }
                if let now { spaced(a(.href(.storeClock(of: account))) { "Clock of the account" }, Shown.moment(now)) }
                a(.href(ConsolePath("store", "account", "receipt", query: ["account": account]))) {
                    "App receipt of the account (base64)"
                }
            }
            if let family {
                Facts.list([
                    fact("Organizer") { StoreRows.account(family.organizer) },
                    fact("Members") { spaced(by: ", ", family.members.map(StoreRows.account)) },
                ])
                context.form(to: ConsolePath("store", "account", "family", "leave"), .class("actions")) {
                    hidden
                    button { "Leave the family" }
                }
            }
            context.action("Add a family member", to: ConsolePath("store", "account", "family"), submit: "Add") {
                hidden
                Self.relative
                note(
                    "Members share what the products allow: non-consumables and active subscriptions. A member who leaves loses them."
                )
            }
        }
    }
}
