"""Mangled names of C++, as compilers wrote them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracevis3d.formats.demangle import demangle


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("main", "main"),
        ("_Z4loopi", "loop"),
        ("_Z3strPKci", "str"),
        ("_ZN2nsL3hidEd", "ns::hid"),
        ("_ZN2ns1KC2Ei", "ns::K::K"),
        ("_ZN2ns1KD1Ev", "ns::K::~K"),
        ("_ZN2ns1KplEi", "ns::K::operator+"),
        ("_ZN2ns1K2twIdEET_S2_", "ns::K::tw"),
        ("_ZNKSt6thread8joinableEv", "std::thread::joinable"),
        ("_ZSteqNSt6thread2idES0_", "std::operator=="),
        ("_ZdlPvm", "operator delete"),
        ("_Znwm", "operator new"),
        ("_ZZ4mainENKUlvE_clEv", "main::{lambda}::operator()"),
        ("_ZNSt6threadC1IZ4mainEUlvE_JEvEEOT_DpOT0_", "std::thread::thread"),
        ("_ZNSt12_Vector_baseIiSaIiEE12_Vector_implC1Ev", "std::_Vector_base::_Vector_impl::_Vector_impl"),
        ("_ZSt3getILm0EJPNSt6thread6_StateESt14default_deleteIS1_EEERNSt13tuple_elementIXT_ESt5tupleIJDpT0_EEE4typeERS9_",
         "std::get"),
        ("_ZNSt11_Tuple_implILm0EJZ4mainEUlvE_EE7_M_headERS1_", "std::_Tuple_impl::_M_head"),
        ("_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo"),
        ("_ZNSsC1EPKcRKSaIcE", "std::string::string"),
        ("_ZNK3FoocvbEv", "Foo::operator(cast)"),
        ("_ZN3FooB5cxx113barEv", "Foo::bar"),
        ("_ZlsRSoRK3Foo", "operator<<"),
        ("_ZN1fIXadL_Z1gvEEE1hEv", "_ZN1fIXadL_Z1gvEEE1hEv"),
        ("_Z", "_Z"),
        ("_ZN3fo", "_ZN3fo"),
        ("_Z99999999999999999999x", "_Z99999999999999999999x"),
        ("_Z" + "N" * 4000, "_Z" + "N" * 4000),
    ],
)  # fmt: skip
def test_names(mangled, name):
    assert demangle(mangled) == name


@settings(max_examples=500, deadline=None)
@given(st.text("NSZIEKLJTDCPRFAMtdsav_0123456789xy", max_size=40))
def test_any_text_gives_a_name(text):
    assert demangle("_Z" + text)
    assert demangle(text) == text or text.startswith("_Z")
