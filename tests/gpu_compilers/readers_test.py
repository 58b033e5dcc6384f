"""What reads machine code finds the hot loop in it, and tables tell better from worse."""

import sys

import amd
import loops
import mesa
import nvidia
import orin_nano
import table

SASS = """
\t.section\t.text.twice_f32,"ax",@progbits
twice_f32:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   LDG.E R3, [R2.64] ;
        /*0020*/              @!P1 LDG.E.128 R4, [R2.64+0x10] ;
.L_x_2:
        /*0030*/                   LDG.E.U8 R9, [R2.64] ;
        /*0040*/                   FFMA R8, R4, R3, R8 ;
        /*0050*/                   FFMA R8, R5, R3, R8 ;
        /*0060*/                   IMAD.MOV.U32 R6, RZ, RZ, R7 ;
        /*0070*/               @P0 BRA `(.L_x_2) ;
        /*0080*/                   HFMA2.MMA R7, -RZ, RZ, 0, 0 ;
        /*0090*/              @!P0 BRA `(.L_x_1) ;
.L_x_3:
        /*00a0*/                   BRA `(.L_x_3);
"""

LISTING = """
twice_f32:                              ; @twice_f32
; %bb.0:
\ts_load_dwordx2 s[0:1], s[4:5], 0x0
.LBB0_1:                                ; =>This Inner Loop Header: Depth=1
\tglobal_load_dwordx4 v[0:3], v4, s[0:1]
\tv_fmac_f32_e32 v5, v0, v1
\ts_cbranch_scc0 .LBB0_1
; %bb.2:
\ts_endpgm
.Lfunc_end0:
"""

IR3 = """MESA: info: decl_function __wrapped_twice_f32 () (entrypoint)
MESA: info: Native code for unnamed CL shader (null) with sha1 0:
MESA: info: ; num_ubos:           0
MESA: info: @in(r0.x)	in1 (wrmask=0x7)
MESA: info: l23:
MESA: info: (ss)(nop3) cmps.s.ne p0.x, hr55.x, h(0)
MESA: info: br p0.x, #l54
MESA: info: (rpt4)nop
MESA: info: ldg.f32 r1.z, g[r1.x], 4
MESA: info: ldg.u32 r3.y, g[r2.y], 1
MESA: info: (sy)isam.base0 (f32)(xyzw)r5.x, r6.x, t#16, a1.x
MESA: info: isam (f16)(xyzw)hr1.x, r6.x, s#0, t#0
MESA: info: (sy)mad.f32 r0.w, r1.z, r3.y, r0.w
MESA: info: (rpt1)mad.f32 r0.w, r1.z, r3.y, r0.w
MESA: info: jump #l23
MESA: info: l54:
MESA: info: stp.u32 p[0], r0.w, 4
MESA: info: end
MESA: info: ; CL prog 1/1: 17 instr, 5 nops, 12 non-nops, 0 mov, 0 cov, 34 dwords
MESA: info: ; CL prog 1/1: 0 last-baryf, 0 last-helper, 0 half, 4 full, 12 constlen
"""

PTXAS = """ptxas info    : Compiling entry function 'twice_f32' for 'sm_87'
ptxas info    : Function properties for twice_f32
    24 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 56 registers, used 0 barriers, 416 bytes cmem[0]
"""

HOT = ("gemm", "gemv", "conv_2d", "depthwise_rows", "depthwise_pointwise", "batch_matmul")


def expect(got, wanted):
    if got != wanted:
        sys.exit(f"{got} instead of {wanted}")


def check_readers():
    row = loops.hottest(nvidia.disassembled(SASS)["twice_f32"], nvidia.kind)
    expect((row["instructions"], row["multiply_adds"], row["load8"], row["load128"]), (5, 2, 1, 0))
    row = loops.hottest(amd.listed(LISTING)["twice_f32"], amd.kind)
    expect((row["instructions"], row["multiply_adds"], row["load128"], row["load64"]), (3, 1, 1, 0))
    row = mesa.adreno(IR3)["twice_f32"]
    expect((row["registers"], row["spills"], row["instructions"], row["multiply_adds"]), (4, 1, 15, 3))
    expect((row["load32"], row["load64"], row["load128"], row["textures"]), (1, 1, 2, 2))
    expect(nvidia.resources(PTXAS), {"twice_f32": {"registers": 56, "spills": 24, "private": 16}})


def check_tables():
    before = dict.fromkeys(table.FIGURES, 0)
    before.update(instructions=100, multiply_adds=64, load32=20)
    expect(table.worse(before, before), [])
    expect(table.worse({**before, "instructions": 104, "registers": 99}, before), [])
    expect(table.worse({**before, "instructions": 106}, before), ["instructions per multiply-add 1.562 -> 1.656"])
    expect(len(table.worse({**before, "load32": 0, "load128": 22, "spills": 4, "private": 16}, before)), 3)
    expect(len(table.worse({**before, "multiply_adds": 0}, before)), 1)
    expect(table.worse({**before, "instructions": 200, "multiply_adds": 128, "load32": 21}, before), [])
    key = ("gemm", "", "gemm_f32")
    expect(table.compare({key: before}, {}), [(key, "is not in the table")])
    expect(table.compare({}, {key: before}), [(key, "is in the table alone")])


def check_recorded():
    """What the tables of Mesa's GPUs say of the kernels that are chosen there."""
    for gpu in mesa.gpus():
        rows = table.read(gpu)[1]
        expect(len(rows) > 300, True)
        expect([key for key, row in rows.items() if row["spills"] or row["private"]], [])
        aligned = {key: row for key, row in rows.items() if key[0] in HOT and "-DTW_ALIGNED" in key[1]}
        halves = {key: row for key, row in aligned.items() if "-DTW_HALF" in key[1]}
        floats = {key: row for key, row in aligned.items() if key not in halves}
        expect((len(floats) > 10, len(halves) > 10), (True, True))
        expect([key for key, row in floats.items() if table.loads(row) != row["load128"]], [])
        expect([key for key, row in halves.items() if table.loads(row) != row["load64"] + row["load128"]], [])
        weights = [key for key, row in rows.items() if row["textures"]]
        expect(weights, [key for key in rows if "-DTW_WEIGHT_IMAGE" in key[1]])
        wanted = [key for key in rows if key[0] in ("gemm", "conv_2d")] if gpu.startswith("adreno") else []
        expect(weights, wanted)


def check_model():
    """The roofline's share needs the lines of the tiles that gemm.cl has."""
    for half in (False, True):
        expect(sorted(orin_nano.tiles(half)), ["1x4", "2x4", "4x4", "4x8", "8x4", "split_4x4", "split_8x4"])
        expect(orin_nano.tiles(half)["4x8"][1:], (4, 8, 1))
        expect(orin_nano.tiles(half)["split_8x4"][1:], (8, 4, 8))
        spent = orin_nano.times(196, 672, 112, *orin_nano.tiles(half)["4x8"])
        expect(orin_nano.roofline(196, 672, 112, 2 if half else 4) <= 2 * max(spent.values()), True)


check_readers()
check_tables()
check_recorded()
check_model()
