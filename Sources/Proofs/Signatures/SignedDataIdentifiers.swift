/// The type of a container or its content, identified by the bytes of its object identifier (RFC 2315 section 14).
enum ContentIdentifier {
    /// 1.2.840.113549.1.7.1
    case data
    /// 1.2.840.113549.1.7.2
    case signedData

    init?(rawValue: [UInt8]) {
        guard rawValue.count == 9, rawValue.starts(with: pkcs + [0x07]) else { return nil }
        switch rawValue[8] {
        case 1: self = .data
        case 2: self = .signedData
        default: return nil
        }
    }
}

/// The hash functions of app receipts, identified by the bytes of their object identifiers.
enum DigestIdentifier {
    /// 1.3.14.3.2.26
    case sha1
    /// 2.16.840.1.101.3.4.2.1
    case sha256

    init?(rawValue: [UInt8]) {
        switch rawValue {
        case [0x2B, 0x0E, 0x03, 0x02, 0x1A]: self = .sha1
        case [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]: self = .sha256
        default: return nil
        }
    }

    var algorithm: DigestAlgorithm { self == .sha1 ? .sha1 : .sha256 }
}

/// The signature algorithms of app receipts, all of them RSA PKCS#1 v1.5 (RFC 8017 appendix C).
enum SignatureIdentifier {
    /// 1.2.840.113549.1.1.1. The digest's identifier determines the hash function.
    case rsaEncryption
    /// 1.2.840.113549.1.1.5
    case sha1WithRSAEncryption
    /// 1.2.840.113549.1.1.11
    case sha256WithRSAEncryption

    init?(rawValue: [UInt8]) {
        guard rawValue.count == 9, rawValue.starts(with: pkcs + [0x01]) else { return nil }
        switch rawValue[8] {
        case 1: self = .rsaEncryption
        case 5: self = .sha1WithRSAEncryption
        case 11: self = .sha256WithRSAEncryption
        default: return nil
        }
    }

    /// The hash function that the identifier names. Nil if it names none.
    var digest: DigestAlgorithm? {
        switch self {
        case .rsaEncryption: nil
        case .sha1WithRSAEncryption: .sha1
        case .sha256WithRSAEncryption: .sha256
        }
    }
}

/// 1.2.840.113549.1, the arc of RSA Laboratories.
private let pkcs: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01]
