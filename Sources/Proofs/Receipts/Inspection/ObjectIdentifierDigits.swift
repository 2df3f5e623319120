/// An object identifier of ASN.1 (X.690 section 8.19), as digits.
enum ObjectIdentifierDigits {
    /// The names of the algorithms and types in app receipts.
    private static let names = [
        "1.2.840.113549.1.7.1": "data", "1.2.840.113549.1.7.2": "signedData", "1.3.14.3.2.26": "SHA-1",
        "2.16.840.1.101.3.4.2.1": "SHA-256", "1.2.840.113549.1.1.1": "RSA PKCS#1 v1.5",
        "1.2.840.113549.1.1.5": "SHA-1 with RSA PKCS#1 v1.5", "1.2.840.113549.1.1.11": "SHA-256 with RSA PKCS#1 v1.5",
    ]
    /// The maximum number of bytes read.
    private static let maximumLength = 64

    /// The usual name of an identifier, or its digits.
    static func name(of content: ArraySlice<UInt8>) -> String {
        let digits = digits(of: content)
        return names[digits] ?? digits
    }

    private static func digits(of content: ArraySlice<UInt8>) -> String {
        var (numbers, number) = ([UInt64](), UInt64(0))
        for byte in content.prefix(maximumLength) {
            number = number << 7 | UInt64(byte & 0x7F)
            guard byte & 0x80 == 0 else { continue }
            numbers.append(number)
            number = 0
        }
        guard let first = numbers.first else { return "" }
        let arc = min(first / 40, 2)
        return ([arc, first - arc * 40] + numbers.dropFirst()).map(String.init).joined(separator: ".")
    }
}
