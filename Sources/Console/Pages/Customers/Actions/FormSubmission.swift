import HTTPSupport
import Hummingbird
import Ledger
import Proofs

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
