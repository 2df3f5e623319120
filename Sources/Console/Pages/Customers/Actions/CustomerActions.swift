import Features
import HTTPSupport
import Hummingbird
import Ledger
import Proofs

/// The forms of a customer's page that change something.
struct CustomerActions {
    let context: ConsoleContext
    let services: ConsoleServices
    let user: User
    let names: CatalogNames

    var html: HTML {
        section(.id("actions")) {
            h2 { Phrase("Actions", "작업") }
            give
            if !names.catalogs.balances.isEmpty { addition }
            if services.webhooks != nil { webhooks }
            p {
                a(.class("button"), .href(.customer(user, "export"))) {
                    Phrase("Export all data (JSON)", "모든 데이터 내보내기 (JSON)")
                }
            }
            if context.may(.administer) { erasure }
        }
    }

    private var give: HTML {
        details(.class("action")) {
            summary { Phrase("Give an item", "아이템 지급") }
            context.form(to: .customer(user, "grants")) {
                FormSubmission.field(services.randomness)
                Field.choice(
                    "give-item", Phrase("Item", "아이템"),
                    names.items.filter { names.catalogs.grants($0) }.map { ($0.description, names.item($0)) })
                Field.date(
                    "give-until", Phrase("Until", "종료일"),
                    note: Phrase(
                        "To the end of this day in UTC. Empty for no end.", "이 날의 끝(UTC)까지. 비우면 끝이 없습니다."))
                Field.reason("give-reason")
                button(.class("primary")) { Phrase("Give the item", "지급") }
            }
        }
    }

    private var addition: HTML {
        details(.class("action")) {
            summary { Phrase("Add to a balance", "잔액에 더하기") }
            context.form(to: .customer(user, "balances")) {
                FormSubmission.field(services.randomness)
                Field.choice(
                    "balance", Phrase("Balance", "잔액"), names.catalogs.balances.map { ($0, Phrase(same: $0)) })
                Field.number("amount", Phrase("Amount", "수량"), isRequired: true)
                Field.reason("balance-reason")
                button(.class("primary")) { Phrase("Add", "더하기") }
            }
        }
    }

    private var webhooks: HTML {
        details(.class("action")) {
            summary { Phrase("Send the webhook messages again", "웹훅 메시지 다시 보내기") }
            context.form(to: .customer(user, "webhooks")) {
                p {
                    Phrase(
                        "Sends the latest messages about this customer to every webhook again.",
                        "이 고객에 대한 최근 메시지를 모든 웹훅에 다시 보냅니다.")
                }
                button { Phrase("Send again", "다시 보내기") }
            }
        }
    }

    private var erasure: HTML {
        details(.class("action")) {
            summary { Phrase("Erase the customer", "고객 삭제") }
            context.form(to: .customer(user, "erasure")) {
                p {
                    Phrase(
                        "The name, the profile and the reasons are erased for good. The purchases stay redeemed, so that nobody can redeem them again.",
                        "이름, 프로필, 이유가 영구히 삭제됩니다. 구매는 등록된 상태로 남아 아무도 다시 등록할 수 없습니다.")
                }
                Field.text(
                    "erase-name", Phrase("Type the customer's name to confirm", "확인하려면 고객의 이름을 입력하세요"),
                    maximumLength: User.maximumCustomerLength, isRequired: true)
                button(.class("danger")) { Phrase("Erase", "삭제") }
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
        key = IdempotencyKey(
            caller: try context.requiredMember.caller, key: "console " + String(decoding: text, as: UTF8.self))
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
