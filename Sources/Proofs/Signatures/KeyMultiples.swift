import COpenSSL

/// A table of multiples of a P-256 key, with which a signature is verified in half of the time that OpenSSL's EVP takes.
///
/// ECDSA (FIPS 186-5 section 6.4.2) adds u1·G and u2·Q. OpenSSL has a table for the curve's generator G, and none for a key Q. So
/// most of a verification is u2·Q. OpenSSL also makes a table for the generator of another group: here Q is one. Every point is
/// OpenSSL's; no field arithmetic is ours.
///
/// A wrong table could accept a forgery, such as a table of infinities. So each entry is compared with a sum of points when the
/// table is made, and a table with a wrong one is not used. Products of it are then right: OpenSSL adds one entry for each seven
/// bits of a number below the order, so no two equal or opposite points meet there, which its addition of entries could not add. The
/// last addition, of u1·G and u2·Q, is the one that can add any two points. A signature that the table refuses is
/// verified by EVP (`PublicKey`).
///
/// The class is unchecked because the pointers refer to C memory. They never change, and nothing changes the groups after `init`.
package final class KeyMultiples: @unchecked Sendable {
    /// P-256 with its own generator.
    private let curve: OpaquePointer
    /// P-256 with the key as its generator, and the table: 64 points of 64 bytes for each of 37 windows.
    private let multiples: OpaquePointer

    /// Makes and checks the table, in some 40 ms.
    ///
    /// - Returns: Nil for keys of other kinds, and if OpenSSL's P-256 cannot make such tables. The one in assembly can.
    package init?(of key: PublicKey) {
        defer { ERR_clear_error() }
        guard key.kind == .ellipticCurve(.p256), let curve = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1) else {
            return nil
        }
        self.curve = curve
        guard let multiples = EC_GROUP_dup(curve) else {
            EC_GROUP_free(curve)
            return nil
        }
        self.multiples = multiples
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = EVP_PKEY_get1_encoded_public_key(key.handle.pointer, &encoded)
        defer { CRYPTO_free(encoded, nil, 0) }
        let point = EC_POINT_new(curve)
        defer { EC_POINT_free(point) }
        // Other implementations multiply more slowly with a table than EVP does without.
        guard till_group_has_table(curve) == 1, EC_POINT_oct2point(curve, point, encoded, length, nil) == 1,
            EC_GROUP_set_generator(multiples, point, EC_GROUP_get0_order(curve), BN_value_one()) == 1,
            till_group_make_table(multiples) == 1, till_group_has_table(multiples) == 1, hasMultiples(of: point)
        else { return nil }
    }

    deinit {
        EC_GROUP_free(multiples)
        EC_GROUP_free(curve)
    }

    /// Verifies a signature with r and s of 32 bytes each.
    ///
    /// - Parameter digest: The SHA-256 of the message.
    package func verifies(_ signature: [UInt8], overDigest digest: [UInt8]) -> Bool {
        guard signature.count == 64, digest.count == 32 else { return false }
        let numbers = BN_CTX_new()
        let (point, other) = (EC_POINT_new(curve), EC_POINT_new(curve))
        defer {
            EC_POINT_free(point)
            EC_POINT_free(other)
            BN_CTX_free(numbers)
            ERR_clear_error()
        }
        guard numbers != nil, let order = EC_GROUP_get0_order(curve) else { return false }
        BN_CTX_start(numbers)
        defer { BN_CTX_end(numbers) }
        let (r, s, u1, u2) = (BN_CTX_get(numbers), BN_CTX_get(numbers), BN_CTX_get(numbers), BN_CTX_get(numbers))
        // Once one is missing, so are all others.
        guard let x = BN_CTX_get(numbers) else { return false }
        signature.withUnsafeBufferPointer { bytes in
            BN_bin2bn(bytes.baseAddress, 32, r)
            BN_bin2bn(bytes.baseAddress.map { $0 + 32 }, 32, s)
        }
        guard BN_is_zero(r) == 0, BN_is_zero(s) == 0, BN_cmp(r, order) < 0, BN_cmp(s, order) < 0,
            BN_bin2bn(digest, 32, u1) != nil, BN_mod_inverse(s, s, order, numbers) != nil,
            BN_mod_mul(u1, u1, s, order, numbers) == 1, BN_mod_mul(u2, r, s, order, numbers) == 1,
            EC_POINT_mul(curve, point, u1, nil, nil, numbers) == 1,
            EC_POINT_mul(multiples, other, u2, nil, nil, numbers) == 1,
            EC_POINT_add(curve, point, point, other, numbers) == 1,
            // Infinity has no coordinates.
            EC_POINT_get_affine_coordinates(curve, point, x, nil, numbers) == 1,
            BN_nnmod(x, x, order, numbers) == 1
        else { return false }
        return BN_cmp(x, r) == 0
    }

    /// True if each entry of the table is the multiple that belongs there.
    ///
    /// The number d · 2^7w uses the entry d of the window w alone; with d = 64 it uses the entry 64, and the first of the next
    /// window. The order less one uses the last entry of the last window, which no number below the order uses alone.
    private func hasMultiples(of key: OpaquePointer?) -> Bool {
        let (numbers, number) = (BN_CTX_new(), BN_new())
        let (base, sum, product) = (EC_POINT_dup(key, curve), EC_POINT_new(curve), EC_POINT_new(curve))
        defer {
            for point in [base, sum, product] { EC_POINT_free(point) }
            BN_free(number)
            BN_CTX_free(numbers)
        }
        guard numbers != nil, number != nil, base != nil, sum != nil, product != nil,
            let order = EC_GROUP_get0_order(curve)
        else { return false }
        func isProduct(_ expected: OpaquePointer?) -> Bool {
            EC_POINT_mul(multiples, product, number, nil, nil, numbers) == 1
                && EC_POINT_cmp(curve, product, expected, numbers) == 0
        }
        for bit in stride(from: Int32(0), to: 256, by: 7) {
            guard EC_POINT_set_to_infinity(curve, sum) == 1 else { return false }
            for digit in 1...64 {
                guard BN_set_word(number, .init(digit)) == 1, BN_lshift(number, number, bit) == 1 else {
                    return false
                }
                if BN_cmp(number, order) >= 0 { break }
                guard EC_POINT_add(curve, sum, sum, base, numbers) == 1, isProduct(sum) else { return false }
            }
            for _ in 0..<7 {
                guard EC_POINT_dbl(curve, base, base, numbers) == 1 else { return false }
            }
        }
        guard BN_copy(number, order) != nil, BN_sub_word(number, 1) == 1, EC_POINT_copy(sum, key) == 1,
            EC_POINT_invert(curve, sum, numbers) == 1
        else { return false }
        return isProduct(sum)
    }
}
