import Entitlements
import HTTPSupport
import Proofs

/// The proof inspector, which stores nothing, and the kept proofs.
struct ProofsRoutes: Sendable {
    private static let textField = "proof"
    private static let fileField = "file"

    let services: any ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("proofs") { _, context in Self.page(context) }
        pages.post("proofs", .view) { _, context in
            let proof = try await Self.proof(in: context.form)
            return Self.page(context, of: try await inspect(proof))
        }
        pages.get("customers/:issuer/:user/proofs/:digest") { _, context in try await keptProof(context) }
    }

    private func inspect(_ proof: [UInt8]) async throws -> InspectedProof {
        try await BlockingWork.process(proof.count) { services.entitlements.inspect(proof) }
    }

    /// The chosen file, or else the pasted text.
    private static func proof(in form: ConsoleForm) async throws -> [UInt8] {
        for field in [fileField, textField] {
            guard let bytes = form.bytes(field) else { continue }
            let proof = try await BlockingWork.process(bytes.count) { PastedProof.proof(in: bytes) }
            if !proof.isEmpty { return proof }
        }
        throw ConsoleForm.invalid(textField, "a proof: paste one, or choose a file")
    }

    /// The bytes of a SHA-256 in hexadecimal. Nil for another text.
    private static func digest(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private func keptProof(_ context: ConsoleContext) async throws -> Page {
        let user = try await services.customer(context)
        guard let digest = Self.digest(try context.parameters.text("digest")),
            let stored = try await services.ledger.read(
                .snapshot, { try $0.storedProof(digest, of: user) })
        else {
            throw Problem(
                status: .notFound, code: "proofNotKept",
                detail:
                    "No proof of this user with this SHA-256 was kept. Turn on `keep-proofs` to keep the proofs of new purchases."
            )
        }
        // Nil if the stored bytes are damaged.
        var inspected: InspectedProof?
        if let bytes = stored.bytes { inspected = try await inspect(bytes).withoutSecrets }
        return Page("Kept proof", section: .customers) {
            Shown.wayBack(to: user)
            section(.class("card")) {
                Facts.list {
                    fact("SHA-256 of the signed bytes") { Shown.identifier(digest.hexadecimal) }
                }
                if inspected?.inspection.digest != digest {
                    p(.class("problem"), .role("alert")) {
                        "The ledger's copy is damaged: it is not what was signed. Restore the ledger from a backup."
                    }
                }
            }
            inspected?.view
        }
    }

    /// The page that decodes and verifies a pasted proof.
    ///
    /// - Parameter proof: The proof that was sent. Nil before one was.
    private static func page(_ context: ConsoleContext, of proof: InspectedProof? = nil) -> Page {
        Page("Proof inspector", section: .proofs) {
            if let proof {
                proof.view
                details(.class("action")) {
                    summary { "Inspect another proof" }
                    form(context)
                }
            } else {
                section(.class("card")) { form(context) }
            }
        }
    }

    private static func form(_ context: ConsoleContext) -> HTML {
        context.form(to: ConsolePath("proofs"), HTMLAttribute("enctype", "multipart/form-data")) {
            note(
                "Takes a signed transaction, renewal information, a notification, an app transaction or an app receipt, also a broken one. The service decodes and verifies it. It stores and logs nothing of it."
            )
            labelled(textField, "Proof: paste it, or drop a file here") {
                textarea(
                    .id(textField), .name(textField), HTMLAttribute("rows", "8"), HTMLAttribute("spellcheck", "false"),
                    HTMLAttribute("autocomplete", "off"), HTMLAttribute("data-drop")
                ) {}
            }
            labelled(fileField, "Or choose a file") { input(.type("file"), .id(fileField), .name(fileField)) }
            button(.class("primary")) { "Inspect" }
        }
    }
}
