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
        pages.postStore("store/account/restore") { _, context in
            try change(context, .restored) { try $0.restoreCompletedTransactions(account: $1) }
        }
        pages.postStore("store/account/family") { _, context in
            let relative = try context.form.requiredText("relative", upTo: Store.maximumAccountLength)
            return try change(context) { try $0.join(relative, familyOf: $1) }
        }
        pages.postStore("store/account/family/leave") { _, context in
            try change(context) { try $0.leaveFamily($1) }
        }
    }

    /// Changes the account that a form names. Returns the page with the account.
    private func change(
        _ context: ConsoleContext, _ notice: Notice = .performed, _ action: (Books, String) throws -> Void
    ) throws -> ConsolePath {
        let account = try context.form.requiredText("account", upTo: Store.maximumAccountLength)
        try store.write { try action($0, account) }
        return StoreSelection(account: account).path(done: notice)
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
