/// A decoder of broken base64, for people to see as much as can be read.
enum LenientBase64 {
    /// The bytes up to the first invalid character, in either alphabet and with or without padding.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let symbols = text.prefix { isSymbol($0) }.map { symbol in
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

    private static func isSymbol(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
