import Features
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

extension CustomerView {
    /// The forms of the customer's page that change something.
    var actions: HTML {
        section(.id("actions")) {
            h2 { "Actions" }
            context.action("Give an item", to: .customer(user, "grants"), submit: "Give the item") {
                FormSubmission.field(services.randomness)
                Field.choice(
                    "give-item", "Item",
                    names.items.filter { names.catalogs.grants($0) }.map { ($0.description, names.item($0)) })
                Field.date(
                    "give-until", Phrase("Until", context: "day"),
                    note: "To the end of this day in UTC. Empty for no end.")
                Field.reason("give-reason")
            }
            if !names.catalogs.balances.isEmpty {
                context.action(
                    "Add to a balance", to: .customer(user, "balances"), submit: Phrase("Add", context: "balance")
                ) {
                    FormSubmission.field(services.randomness)
                    Field.choice("balance", "Balance", names.catalogs.balances.map { ($0, Phrase(same: $0)) })
                    CustomersRoutes.amount
                    Field.reason("balance-reason")
                }
            }
            if services.webhooks != nil {
                context.action(
                    "Send the webhook messages again", to: .customer(user, "webhooks"), submit: "Send again", .plain
                ) {
                    p { "Sends the latest messages about this customer to every webhook again." }
                }
            }
            p { a(.class("button"), .href(.customer(user, "export"))) { "Export all data (JSON)" } }
            if context.may(.administer) {
                context.action("Erase the customer", to: .customer(user, "erasure"), submit: "Erase", .danger) {
                    p {
                        "The name, the profile and the reasons are erased for good. The purchases stay redeemed, so that nobody can redeem them again."
                    }
                    Field.text(
                        "erase-name", "Type the customer's name to confirm",
                        maximumLength: User.maximumCustomerLength, isRequired: true)
                }
            }
        }
    }
}

/// One submission of a form. The page makes its key, so that a form that is sent twice takes effect once.
struct FormSubmission {
    private static let field = "submission"

    let key: IdempotencyKey
    /// The answer to store under the key.
    let answer: KeptAnswer

    /// The hidden field with a new key.
    static func field(_ randomness: Randomness) -> HTML {
        input(.type("hidden"), .name(field), .value(Base64.encode(randomness.bytes(16), .urlSafe)))
    }

    /// - Parameter fields: The names of the fields that decide the effect.
    /// - Throws: `Problem`, `fieldInvalid`.
    init(_ request: Request, _ context: ConsoleContext, _ fields: [String]) throws {
        let text = Array(try context.form.text(Self.field).utf8)
        guard Base64.decode(text[...], .urlSafe)?.count == 16 else {
            throw ConsoleForm.invalid(Self.field, "the key that the page contains")
        }
        key = IdempotencyKey(caller: try context.caller, key: "console " + String(decoding: text, as: UTF8.self))
        var content = Array(request.uri.path.utf8)
        for field in fields { content += [0] + (context.form.bytes(field) ?? []) }
        answer = KeptAnswer(requestDigest: DigestAlgorithm.sha256.digest(of: content), bytes: Array("{}".utf8))
    }

    /// Checks the answer of the submission that took effect; nil if this one did.
    ///
    /// - Throws: `Problem`, `formSentBefore`, if another content was sent under the same key.
    func check(_ earlier: KeptAnswer?) throws(Problem) {
        guard let earlier, earlier.requestDigest != answer.requestDigest else { return }
        throw Problem(
            status: .conflict, code: "formSentBefore",
            detail: "The form was sent before with other content. Reload the page and try again.")
    }
}
