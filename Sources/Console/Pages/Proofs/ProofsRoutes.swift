import Features
import HTTPSupport
import Hummingbird
import Proofs

/// The proof inspector, which stores nothing, and the kept proofs.
struct ProofsRoutes: Sendable {
    let services: ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("proofs") { _, context in ProofsPage(context: context, proof: nil).page }
        pages.post("proofs", .view) { _, context in
            let proof = try await Self.proof(in: context.form)
            return ProofsPage(context: context, proof: try await inspect(proof)).page
        }
        pages.get("customers/:issuer/:user/proofs/:digest") { _, context in
            let user = try await services.customer(context)
            guard let digest = Self.digest(try context.parameters.text("digest")),
                let stored = try await services.entitlements.ledger.read(
                    .snapshot, { try $0.storedProof(digest, of: user) })
            else {
                throw Problem(
                    status: .notFound, code: "proofNotKept",
                    detail:
                        "No proof of this user with this SHA-256 was kept. Turn on `keep-proofs` to keep the proofs of new purchases."
                )
            }
            var inspected: InspectedProof?
            if let bytes = stored.bytes { inspected = try await inspect(bytes) }
            return KeptProofPage(user: user, digest: digest, stored: stored, inspected: inspected).page
        }
    }

    private func inspect(_ proof: [UInt8]) async throws -> InspectedProof {
        try await BlockingWork.process(proof.count) { services.entitlements.inspect(proof) }
    }

    /// The chosen file, or else the pasted text.
    private static func proof(in form: ConsoleForm) async throws -> [UInt8] {
        for field in [ProofsPage.fileField, ProofsPage.textField] {
            guard let bytes = form.bytes(field) else { continue }
            let proof = try await BlockingWork.process(bytes.count) { PastedProof.proof(in: bytes) }
            if !proof.isEmpty { return proof }
        }
        throw ConsoleForm.invalid(ProofsPage.textField, "a proof: paste one, or choose a file")
    }

    /// The bytes of a SHA-256 in hexadecimal. Nil for another text.
    private static func digest(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 64, text.utf8.count == 64 else { return nil }
        return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

/// The page of a proof in the ledger.
struct KeptProofPage {
    let user: User
    let digest: [UInt8]
    let stored: StoredProof
    /// Nil if the stored bytes are damaged.
    let inspected: InspectedProof?

    var page: Page {
        Page("Kept proof", section: .customers) {
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
            if let inspected { ProofView(inspected).html }
        }
    }
}

/// The page that decodes and verifies a pasted proof.
struct ProofsPage {
    static let textField = "proof"
    static let fileField = "file"

    let context: ConsoleContext
    /// The proof that was sent. Nil before one was.
    let proof: InspectedProof?

    var page: Page {
        Page("Proof inspector", section: .proofs) {
            if let proof {
                ProofView(proof).html
                details(.class("action")) {
                    summary { "Inspect another proof" }
                    form
                }
            } else {
                section(.class("card")) { form }
            }
        }
    }

    private var form: HTML {
        context.form(to: ConsolePath("proofs"), HTMLAttribute("enctype", "multipart/form-data")) {
            note(
                "Takes a signed transaction, renewal information, a notification, an app transaction or an app receipt, also a broken one. The service decodes and verifies it. It stores and logs nothing of it."
            )
            div(.class("field")) {
                label(.for(Self.textField)) { "Proof: paste it, or drop a file here" }
                textarea(
                    .id(Self.textField), .name(Self.textField), HTMLAttribute("rows", "8"),
                    HTMLAttribute("spellcheck", "false"), HTMLAttribute("autocomplete", "off"),
                    HTMLAttribute("data-drop")
                ) {}
            }
            div(.class("field")) {
                label(.for(Self.fileField)) { "Or choose a file" }
                input(.type("file"), .id(Self.fileField), .name(Self.fileField))
            }
            button(.class("primary")) { "Inspect" }
        }
    }
}
