import Proofs

extension ProofInspection {
    @HTMLBuilder var certificateList: HTML {
        if self.certificates.isEmpty { emptyNote("The proof has no readable certificates.") }
        if self.certificateCount > self.certificates.count {
            note("The first \(self.certificates.count) of \(self.certificateCount) certificates.")
        }
        div(.class("columns")) {
            for certificate in self.certificates {
                section(.class("card")) { facts(of: certificate) }
            }
        }
    }

    @HTMLBuilder private func facts(of inspected: InspectedCertificate) -> HTML {
        if let certificate = inspected.certificate {
            p { badges(inspected, certificate) }
            Facts.list {
                fact("Subject") { data(certificate.subjectName.description) }
                fact("Issuer") { data(certificate.issuerName.description) }
                fact("Serial number") { Shown.identifier(certificate.serialNumber.hexadecimal) }
                fact("Valid from") { Shown.moment(Timestamp(secondsSince1970: certificate.notBefore)) }
                fact("Valid until") { Shown.moment(Timestamp(secondsSince1970: certificate.notAfter)) }
                fact("Key") { plain(certificate.publicKey.kind.text) }
                fact("Apple's extensions") {
                    if certificate.appleExtensions.isEmpty {
                        Shown.nothing
                    } else {
                        ul(.class("plain")) {
                            for identifier in certificate.appleExtensions {
                                li {
                                    Shown.identifier(identifier)
                                    if let known = AppleExtension(rawValue: identifier) { also(known.title) }
                                }
                            }
                        }
                    }
                }
                fact(Phrase(same: "SHA-256")) { Shown.identifier(certificate.fingerprint.hexadecimal) }
            }
        } else {
            emptyNote("\(inspected.der.count) bytes that are no certificate.")
        }
    }

    @HTMLBuilder private func badges(_ inspected: InspectedCertificate, _ certificate: Certificate) -> HTML {
        if inspected.isSigner { Shown.badge("signer") }
        plain(" ")
        if certificate.isAuthority { Shown.badge("authority") }
        plain(" ")
        if certificate == self.anchor?.certificate {
            Shown.badge("trusted root", .good)
        } else if inspected.isOnTrustedPath {
            Shown.badge("leads to the trusted root", .good)
        } else {
            Shown.badge("not trusted", .bad)
        }
        plain(" ")
        // OpenSSL treats the last second as expired.
        let second = self.moment.secondsSince1970
        if certificate.notBefore <= second && second < certificate.notAfter {
            Shown.badge("valid at the proof's date", .good)
        } else {
            Shown.badge("not valid at the proof's date", .bad)
        }
    }
}

extension AppleExtension {
    fileprivate var title: Phrase {
        switch self {
        case .receiptSigning: "receipt signing"
        case .worldwideDeveloperRelations: "Worldwide Developer Relations"
        }
    }
}

extension PublicKey.Kind {
    fileprivate var text: String {
        switch self {
        case .ellipticCurve(let curve): "ECDSA \(curve.rawValue)"
        case .rsa(let bits): "RSA \(bits)"
        case .ed25519: "Ed25519"
        case .other: "–"
        }
    }
}
