/// A reader of broken BER, for people to see as much as can be read. An element that ends too early has the content that is
/// there.
struct LenientBER {
    let bytes: [UInt8]

    /// The elements of a range up to the first unreadable one, and true if the range ends with a whole element.
    func elements(in range: Range<Int>) -> (elements: [BERElement], isWhole: Bool) {
        var (elements, position) = ([BERElement](), range.lowerBound)
        while position < range.upperBound {
            guard let element = element(at: position, end: range.upperBound) else { return (elements, false) }
            elements.append(element)
            position = element.encoded.upperBound
        }
        return (elements, elements.last?.isCut != true)
    }

    /// The elements inside an element.
    func children(of element: BERElement?) -> [BERElement] {
        element.map { elements(in: $0.content).elements } ?? []
    }

    /// The bytes of an OCTET STRING, which Xcode splits.
    func octets(of element: BERElement) -> [UInt8] {
        guard element.tag & BERTag.constructed != 0 else { return Array(bytes[element.content]) }
        return children(of: element).filter { $0.tag == BERTag.octetString }.flatMap { bytes[$0.content] }
    }

    private func element(at start: Int, end: Int, depth: Int = 0) -> BERElement? {
        guard end - start >= 2, depth < BERCursor.maximumDepth else { return nil }
        let (tag, first) = (bytes[start], Int(bytes[start + 1]))
        guard tag & 0x1F != 0x1F else { return nil }
        var position = start + 2
        if first == 0x80 {
            guard tag & BERTag.constructed != 0 else { return nil }
            let content = position
            while end - position >= 2, !(bytes[position] == 0 && bytes[position + 1] == 0) {
                guard let inner = element(at: position, end: end, depth: depth + 1) else { break }
                position = inner.encoded.upperBound
            }
            guard end - position >= 2, bytes[position] == 0, bytes[position + 1] == 0 else {
                return BERElement(tag: tag, content: content..<end, encoded: start..<end, isCut: true)
            }
            return BERElement(tag: tag, content: content..<position, encoded: start..<position + 2)
        }
        var length = first
        if first > 0x80 {
            let count = first & 0x7F
            guard count <= 4, end - position >= count else { return nil }
            length = bytes[position..<position + count].reduce(0) { $0 << 8 | Int($1) }
            position += count
        }
        let stop = min(end, position + length)
        return BERElement(
            tag: tag, content: position..<stop, encoded: start..<stop, isCut: stop < position + length)
    }
}

/// A decoder of broken base64, for people to see as much as can be read.
enum LenientBase64 {
    /// The bytes up to the first invalid character, in either alphabet and with or without padding.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let symbols = text.prefix(while: Base64.isSymbol).map { symbol in
            switch symbol {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: symbol
            }
        }
        let end = symbols.count / 4 * 4
        let whole = Base64.decode(symbols[..<end], .urlSafe) ?? []
        return whole + (Base64.decode(symbols[end...], .urlSafe) ?? [])
    }
}

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
