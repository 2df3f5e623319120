import Features
import Proofs

extension InspectedProof {
    /// The decoded proof with the result of each check.
    @HTMLBuilder var view: HTML {
        h2 { "Verdict" }
        p {
            verdict.isAccepted ? Shown.badge("Accepted", .good) : Shown.badge("Refused", .bad)
            plain(" ")
            if let failure = verdict.failure {
                Shown.identifier(failure.code)
            } else {
                "Every check passes. Whether a user may have the purchase is checked at the redemption."
            }
        }
        Listing.table("Checks in their order", of: ProofVerdict.Check.allCases, empty: "No checks.") {
            column("Check") { $0.words.title }
            column("Result") { badge(of: $0) }
            column("Finding and remedy") { check in
                if case .failed(let failure) = verdict[check] {
                    p { Shown.identifier(failure.code) }
                    if let explanation = RefusalExplanation(code: failure.code) {
                        p { explanation.cause }
                        p { explanation.remedy }
                    }
                    p(.class("note")) { data(failure.message) }
                } else {
                    check.words.meaning
                }
            }
        }
        h2 { "Proof" }
        section(.class("card")) { inspection.facts(origin: origin) }
        h2 { "Header" }
        section(.class("card")) { Self.tree(inspection.header) }
        h2 { "Certificates" }
        inspection.certificateList
        h2 { "Payload" }
        section(.class("card")) { Self.tree(inspection.payload) }
    }

    private static func tree(_ value: ProofValue?) -> HTML {
        value.map { ProofTree.html($0) } ?? emptyNote("Unreadable.")
    }

    private func badge(of check: ProofVerdict.Check) -> HTML {
        switch verdict[check] {
        case .passed: Shown.badge("passed", .good)
        case .failed: Shown.badge("failed", .bad)
        case .notReached: Shown.badge("not reached")
        case .notNeeded: Shown.badge("not needed")
        }
    }
}

extension ProofVerdict.Check {
    /// The title and the rule of the check.
    var words: (title: Phrase, meaning: Phrase) {
        switch self {
        case .size: ("Size", "At most 8 MiB, a JWS at most 1 MiB.")
        case .encoding: ("Encoding", "DER, base64 of DER, or a JWS.")
        case .container: ("Container", "PKCS#7 with one signer, or a JWS with ES256 and its certificates.")
        case .chain: ("Chain", "Leaf, intermediate and a trusted root, each valid at the proof's date.")
        case .extensions: ("Extensions", "Apple's extensions in leaf and intermediate.")
        case .signature: ("Signature", "Made with the leaf's key over these bytes.")
        case .payload: ("Payload", "Apple's format, and no date in the future.")
        case .appAndOrigin: ("App and origin", "An app of this service, and an accepted origin.")
        case .product: ("Product", "A product of the app's catalog.")
        }
    }
}
