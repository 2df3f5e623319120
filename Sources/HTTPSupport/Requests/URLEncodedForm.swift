/// A form in the encoding `application/x-www-form-urlencoded` (URL Standard section 5.1), parsed by bytes.
package struct URLEncodedForm {
    /// The decoded names and values, in their order.
    package let fields: [(name: ArraySlice<UInt8>, value: [UInt8])]

    /// - Parameter maximumFields: The maximum number of fields.
    /// - Returns: Nil for a form with too many fields.
    package init?(_ bytes: [UInt8], upTo maximumFields: Int = 64) {
        var fields: [(name: ArraySlice<UInt8>, value: [UInt8])] = []
        // The last part has all further fields, so many tiny fields need little memory.
        for part in bytes.split(separator: UInt8(ascii: "&"), maxSplits: maximumFields) {
            guard fields.count < maximumFields else { return nil }
            let end = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            fields.append((Self.decode(part[..<end])[...], Self.decode(part[end...].dropFirst())))
        }
        self.fields = fields
    }

    /// The first value of a name; nil if the form has none.
    package subscript(name: String) -> [UInt8]? {
        fields.first { $0.name.elementsEqual(name.utf8) }?.value
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                if let high = rest.first.flatMap(digit), let low = rest.dropFirst().first.flatMap(digit) {
                    decoded.append(high << 4 | low)
                    rest = rest.dropFirst(2)
                } else {
                    decoded.append(byte)
                }
            default: decoded.append(byte)
            }
        }
        return decoded
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
